export { aiSdkDriver } from './ai-sdk-driver.ts';
export type { AiSdkDriverOptions } from './ai-sdk-driver.ts';
export type { CalledModel } from './model-call.ts';
export { AiSdkDriverError } from './driver-error.ts';
export type { AiSdkDriverErrorOptions, DriverErrorData } from './driver-error.ts';
export type { ModelRegistry } from './resolve-model.ts';
export type { Download, DownloadedFile, FileDownload } from './prompt-files.ts';
export type { Wait } from './retry.ts';
