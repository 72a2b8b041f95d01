import { HoldfastError } from '@holdfast/core';

/**
 * The error of a download that the driver does not make. `DOWNLOAD_REFUSED`: its URL, or a redirect, is not allowed.
 * `DOWNLOAD_UNCHECKED`: the platform cannot check the addresses of names.
 */
export class RefusedDownloadError extends HoldfastError {
  constructor(code: 'DOWNLOAD_REFUSED' | 'DOWNLOAD_UNCHECKED', message: string, cause?: unknown) {
    super(code, message, { cause });
  }

  /** For a host with an address that is not public. The message does not name the address. */
  static notPublic(host: string): RefusedDownloadError {
    const advice = 'Pass your own "download" for files within your network.';
    return new RefusedDownloadError('DOWNLOAD_REFUSED', `The address of "${host}" is not public. ${advice}`);
  }

  /** For a host whose address the platform does not tell. */
  static unchecked(host: string): RefusedDownloadError {
    const advice =
      'Pass your own "download", or set "allowUncheckedDownloads" if the process reaches no private network.';
    const message = `This platform cannot check the address of "${host}". ${advice}`;
    return new RefusedDownloadError('DOWNLOAD_UNCHECKED', message);
  }
}
