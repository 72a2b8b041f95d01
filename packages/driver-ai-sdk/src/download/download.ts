import type { Network } from './network.ts';
import { RefusedDownloadError } from './refused-download.ts';

/** A file that a model cannot fetch itself. */
export interface FileDownload {
  /** The address of the file. */
  readonly url: URL;
  /** The size limit in bytes. The download must refuse a larger file. */
  readonly maxBytes: number;
  /** Aborts when the call is aborted. */
  readonly signal: AbortSignal;
}

/** A downloaded file. */
export interface DownloadedFile {
  /** The content of the file. */
  readonly data: Uint8Array;
  /** The media type that the server reported; `undefined` if it reported none. */
  readonly mediaType?: string | undefined;
}

/** Downloads a file. Rejects when the download fails. */
export type Download = (file: FileDownload) => Promise<DownloadedFile>;

export interface PublicDownloadOptions {
  /** True: on a platform without sockets, names are fetched although their addresses cannot be checked. */
  readonly allowsUnchecked?: boolean | undefined;
  /** The network of the platform; default: that of the platform. */
  readonly network?: Network | undefined;
}

/**
 * Creates the default download. It reaches public addresses only, so that a message cannot make the process read its own
 * network: each connection is checked, for each redirect.
 * @throws RefusedDownloadError for a URL or a redirect that is not allowed.
 */
export function publicDownload({ allowsUnchecked = false, network }: PublicDownloadOptions = {}): Download {
  return async ({ url, maxBytes, signal }) => {
    const [utils, { platformNetwork }, { checkedFetch, uncheckedFetch }] = await Promise.all([
      import('./file-utils.ts'),
      import('./network.ts'),
      import('./checked-fetch.ts'),
    ]);
    const found = network ?? platformNetwork();
    const fetch = found ? checkedFetch(found) : uncheckedFetch(allowsUnchecked);
    try {
      const blob = await utils.downloadBlob(url.href, { maxBytes, abortSignal: signal, fetch });
      return {
        data: new Uint8Array(await blob.arrayBuffer()),
        mediaType: blob.type.split(';')[0] || undefined,
      };
    } catch (error) {
      throw refusalIn(error) ?? error;
    }
  };
}

/** Returns the refusal in an error of a download. Without a status and a cause, the AI SDK itself has refused the URL. */
function refusalIn(error: unknown): RefusedDownloadError | undefined {
  if (!(error instanceof Error)) return undefined;
  const { cause, message } = error;
  if (cause instanceof RefusedDownloadError) return cause;
  const isRefused = cause === undefined && !('statusCode' in error && error.statusCode !== undefined);
  return isRefused ? new RefusedDownloadError('DOWNLOAD_REFUSED', message, error) : undefined;
}
