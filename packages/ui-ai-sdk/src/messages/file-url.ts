import type { FileData } from '@holdfast/core/driver';

/** Returns a URL of a file's content; `''` for a file that only its provider has. */
export function fileUrl(mediaType: string, data: FileData): string {
  switch (data.type) {
    case 'data':
      return `data:${mediaType};base64,${data.data}`;
    case 'text':
      return `data:${mediaType},${encodeURIComponent(data.text.toWellFormed())}`;
    case 'url':
      return data.url;
    case 'reference':
      return '';
  }
}
