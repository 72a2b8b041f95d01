import { HoldfastError, type JsonObject } from '@holdfast/core';
import {
  toJsonObject,
  toJsonValue,
  type FileData,
  type ToolContentPart,
  type ToolOutput,
} from '@holdfast/core/driver';
import { toBase64 } from '../response/convert-response.ts';

type Members = Readonly<Record<string, unknown>>;

/**
 * Converts what `toModelOutput` of the AI SDK returned. Bytes become base64, addresses become texts, and the old kinds of
 * files become files.
 * @throws HoldfastError `TOOL_FAILED` for an output that no model can read.
 */
export function convertModelOutput(output: unknown): ToolOutput {
  const { type, value, reason } = membersOf(output);
  const options = optionsOf(output);
  switch (type) {
    case 'text':
    case 'error-text':
      return { type, value: String(value), ...options };
    case 'json':
    case 'error-json':
      return { type, value: toJsonValue(value), ...options };
    case 'execution-denied':
      return { type, ...(typeof reason === 'string' && { reason }), ...options };
    case 'content':
      return { type, value: Array.isArray(value) ? value.map(convertPart) : [], ...options };
    default:
      throw unknownOutput('toModelOutput', type);
  }
}

/** True when the output has a file: the model reads more than text. */
export function hasFile(output: ToolOutput): boolean {
  return output.type === 'content' && output.value.some(({ type }) => type === 'file');
}

function convertPart(part: unknown): ToolContentPart {
  const { type, text, filename } = membersOf(part);
  const options = optionsOf(part);
  if (type === 'text') return { type, text: String(text), ...options };
  if (type === 'custom') return { type, ...options };
  const name = typeof filename === 'string' ? { filename } : {};
  return { type: 'file', mediaType: mediaTypeOf(part), data: convertData(part), ...name, ...options };
}

function mediaTypeOf(part: unknown): string {
  const { type, mediaType } = membersOf(part);
  if (typeof mediaType === 'string') return mediaType;
  return String(type).startsWith('image') ? 'image' : 'application/octet-stream';
}

function convertData(part: unknown): FileData {
  const { type, data, url, fileId, providerReference } = membersOf(part);
  switch (type) {
    case 'file':
      return convertFileData(data);
    case 'file-data':
    case 'image-data':
      return convertFileData({ type: 'data', data });
    case 'file-url':
    case 'image-url':
      return convertFileData({ type: 'url', url });
    case 'file-id':
    case 'image-file-id':
      return convertFileData({ type: 'reference', reference: fileId });
    case 'file-reference':
    case 'image-file-reference':
      return convertFileData({ type: 'reference', reference: providerReference });
    default:
      throw unknownOutput('a content part', type);
  }
}

function convertFileData(file: unknown): FileData {
  const { type, data, url, reference, text } = membersOf(file);
  if (type === 'text') return { type, text: String(text) };
  if (type === 'url') return { type, url: String(url) };
  if (type === 'data' && typeof data === 'string') return { type, data };
  if (type === 'data' && data instanceof Uint8Array) return { type, data: toBase64(data) };
  if (type === 'data' && data instanceof ArrayBuffer) return { type, data: toBase64(new Uint8Array(data)) };
  if (type !== 'reference' || typeof reference !== 'object') throw unknownOutput('a file', type);
  const ids = Object.entries(membersOf(reference)).map(([provider, id]) => [provider, String(id)] as const);
  return { type, reference: Object.fromEntries(ids) };
}

function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function optionsOf(value: unknown): { readonly providerOptions?: JsonObject } {
  const { providerOptions } = membersOf(value);
  return typeof providerOptions === 'object' && providerOptions !== null
    ? { providerOptions: toJsonObject(providerOptions) }
    : {};
}

function unknownOutput(subject: string, type: unknown): HoldfastError {
  return new HoldfastError(
    'TOOL_FAILED',
    `The tool ran, but ${subject} has the unknown type ${String(type)}.`,
  );
}
