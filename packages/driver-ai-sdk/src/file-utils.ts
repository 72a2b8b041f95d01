/**
 * What prompts with files need of the AI SDK's utilities. This module is imported when the first file is seen: loading the
 * utilities takes longer than loading the driver. The names are listed so that bundlers drop the rest of the utilities.
 */
export { detectMediaType, downloadBlob, isFullMediaType, isUrlSupported } from '@ai-sdk/provider-utils';
