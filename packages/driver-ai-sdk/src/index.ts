export { aiSdkDriver } from './ai-sdk-driver.ts';
export type { AiSdkDriverOptions } from './ai-sdk-driver.ts';
export type { CalledModel } from './call/model-call.ts';
export { AiSdkDriverError } from './errors/driver-error.ts';
export type { AiSdkDriverErrorOptions, DriverErrorData } from './errors/driver-error.ts';
export type { ModelRegistry } from './models/resolve-model.ts';
export type { Download, DownloadedFile, FileDownload } from './prompt/prompt-files.ts';
export type { Wait } from './call/retry.ts';
