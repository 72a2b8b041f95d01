import type { LanguageModelV4, SharedV4FileData } from '@ai-sdk/provider';
import { invalidArgument, type Message } from '@holdfast/core';
import type { FileData, MessagePart, ToolContentPart } from '@holdfast/core/driver';
import { publicDownload, type Download, type DownloadedFile } from '../download/download.ts';
import { RefusedDownloadError } from '../download/refused-download.ts';
import { InvalidCallError } from '../errors/call-errors.ts';
import { callDemandsOf } from '../forms/form-of.ts';
import type { SentFile, SentFiles } from './convert-message.ts';

/** A file in a message, and the part that holds it. */
export interface HeldFile {
  readonly holder: object;
  readonly data: FileData;
  readonly mediaType: string;
}

/** True when a message holds a file, which `PromptFiles` must prepare for the model. */
export function hasFiles(message: Message): boolean {
  return heldFiles(message).length > 0;
}

/** Prepares the files of messages for models. Downloads each file of a message once. */
export class PromptFiles {
  private readonly downloaded = new WeakMap<object, DownloadedFile>();
  private readonly download: Download;
  private readonly maxBytes: number;

  constructor(download: Download = publicDownload(), maxBytes = 50 * 2 ** 20) {
    this.download = download;
    this.maxBytes = maxBytes;
  }

  /** Returns the files of a message in a form that `model` accepts. @throws the error of a download. */
  async prepare(message: Message, model: LanguageModelV4, signal: AbortSignal): Promise<SentFiles> {
    const files = heldFiles(message);
    const sent = await Promise.all(files.map((file) => this.sentFile(file, model, signal)));
    return new Map(files.map(({ holder }, index) => [holder, sent[index] as SentFile]));
  }

  private async sentFile(file: HeldFile, model: LanguageModelV4, signal: AbortSignal): Promise<SentFile> {
    const { data, mediaType } = file;
    switch (data.type) {
      case 'data':
        return withDetectedType(data, mediaType);
      case 'url':
        return this.sentUrl({ ...file, url: data.url }, model, signal);
      default:
        return { data, mediaType };
    }
  }

  private async sentUrl(
    file: HeldFile & { readonly url: string },
    model: LanguageModelV4,
    signal: AbortSignal,
  ): Promise<SentFile> {
    const { mediaType } = file;
    if (!URL.canParse(file.url)) throw invalidArgument('A file of the conversation has an invalid URL.');
    const url = new URL(file.url);
    if (url.protocol === 'data:') return sentDataUrl(url, mediaType);
    const { convertUint8ArrayToBase64, isFullMediaType, isUrlSupported } =
      await import('../download/file-utils.ts');
    const { takesBase64Only = false } = callDemandsOf(model);
    const supportedUrls = takesBase64Only ? {} : await model.supportedUrls;
    if (isUrlSupported({ url: url.href, mediaType, supportedUrls })) {
      return {
        data: { type: 'url', url, ...(url.href === file.url ? {} : { originalUrl: file.url }) },
        mediaType,
      };
    }
    const found = this.downloaded.get(file.holder) ?? (await this.fetched(url, signal));
    this.downloaded.set(file.holder, found);
    const knownType = isFullMediaType(mediaType) ? mediaType : (found.mediaType ?? mediaType);
    const data = takesBase64Only ? convertUint8ArrayToBase64(found.data) : found.data;
    return withDetectedType({ type: 'data', data }, knownType);
  }

  /** A failed download is a failure of the request: the loop repeats the call without files, so that the model can answer. */
  private async fetched(url: URL, signal: AbortSignal): Promise<DownloadedFile> {
    try {
      return await this.download({ url, maxBytes: this.maxBytes, signal });
    } catch (error) {
      if (signal.aborted || error instanceof RefusedDownloadError) throw error;
      const message = error instanceof Error ? error.message : 'A file cannot be downloaded.';
      throw new InvalidCallError(message, { cause: error });
    }
  }
}

/** Detects the media type of an image from its bytes, which are more reliable than a declared type. */
async function withDetectedType(
  data: Extract<SharedV4FileData, { type: 'data' }>,
  mediaType: string,
): Promise<SentFile> {
  const { detectMediaType } = await import('../download/file-utils.ts');
  return { data, mediaType: detectMediaType({ data: data.data, topLevelType: 'image' }) ?? mediaType };
}

async function sentDataUrl(url: URL, mediaType: string): Promise<SentFile> {
  const comma = url.href.indexOf(',');
  const [type, ...parameters] = url.href.slice('data:'.length, comma).split(';');
  const content = url.href.slice(comma + 1);
  const data =
    parameters.at(-1) === 'base64' ? content : new TextEncoder().encode(decodeURIComponent(content));
  return withDetectedType({ type: 'data', data }, type || mediaType);
}

/** Returns the files of a message. */
export function heldFiles(message: Message): readonly HeldFile[] {
  return message.role === 'system' ? [] : filesIn(message.content);
}

function filesIn(parts: readonly (MessagePart | ToolContentPart)[]): readonly HeldFile[] {
  return parts.flatMap((part): readonly HeldFile[] => {
    if (part.type === 'file' || part.type === 'reasoning-file')
      return [{ holder: part, data: part.data, mediaType: part.mediaType }];
    if (part.type === 'tool-result' && part.output.type === 'content') return filesIn(part.output.value);
    return [];
  });
}
