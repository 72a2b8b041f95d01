/**
 * The utilities of the AI SDK that prompts with files need. The driver imports this module for the first file, because the
 * utilities take longer to load than the driver. The exports have names, so that bundlers can drop the other utilities.
 */
export {
  convertUint8ArrayToBase64,
  detectMediaType,
  downloadBlob,
  isFullMediaType,
  isUrlSupported,
} from '@ai-sdk/provider-utils';
