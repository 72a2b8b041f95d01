import type {
  LanguageModelV2,
  LanguageModelV2CallOptions,
  LanguageModelV2CallWarning,
  LanguageModelV2Content,
  LanguageModelV2FinishReason,
  LanguageModelV2StreamPart,
  LanguageModelV2Usage,
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3Content,
  LanguageModelV3FinishReason,
  LanguageModelV3StreamPart,
  LanguageModelV3Usage,
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolResult,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4Usage,
  SharedV3Warning,
  SharedV4FileData,
  SharedV4Warning,
} from '@ai-sdk/provider';
import { toBase64 } from '../response/convert-response.ts';

/** A model of an earlier specification. */
export type EarlierModel = LanguageModelV2 | LanguageModelV3;

type EarlierOptions = LanguageModelV2CallOptions & LanguageModelV3CallOptions;
type EarlierContent = LanguageModelV2Content | LanguageModelV3Content;
type EarlierStreamPart = LanguageModelV2StreamPart | LanguageModelV3StreamPart;
type EarlierFinishReason = LanguageModelV2FinishReason | LanguageModelV3FinishReason;
type EarlierUsage = LanguageModelV2Usage | LanguageModelV3Usage;
type EarlierWarning = LanguageModelV2CallWarning | SharedV3Warning;

/**
 * Adapts a model of specification V2 or V3 to V4, as `wrapLanguageModel` of the AI SDK does. Also converts the warnings of
 * V2 models to V4.
 */
export function upgradeModel(model: EarlierModel): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: model.provider,
    modelId: model.modelId,
    get supportedUrls() {
      return model.supportedUrls;
    },
    async doGenerate(options) {
      const result = await model.doGenerate(earlierOptions(options, model));
      return {
        ...result,
        content: result.content.map(upgradeContent),
        finishReason: upgradeFinishReason(result.finishReason),
        usage: upgradeUsage(result.usage),
        warnings: upgradeWarnings(result.warnings),
      };
    },
    async doStream(options) {
      const { stream, ...rest } = await model.doStream(earlierOptions(options, model));
      const upgraded = new TransformStream<EarlierStreamPart, LanguageModelV4StreamPart>({
        transform: (part, controller) => controller.enqueue(upgradeStreamPart(part)),
      });
      return { ...rest, stream: stream.pipeThrough(upgraded) };
    },
  };
}

type Version = EarlierModel['specificationVersion'];

function earlierOptions(
  options: LanguageModelV4CallOptions,
  { specificationVersion }: EarlierModel,
): EarlierOptions {
  const prompt = options.prompt.map((message) => earlierMessage(message, specificationVersion));
  // Options that an earlier specification does not know reach the model unchanged, as with the AI SDK.
  return { ...options, prompt } as EarlierOptions;
}

function earlierMessage(message: LanguageModelV4Message, version: Version) {
  if (message.role === 'system') return message;
  const content = message.content.map((part) => {
    if (part.type === 'file') return { ...part, data: earlierFileData(part.data) };
    if (part.type === 'tool-result') return { ...part, output: earlierOutput(part.output, version) };
    return part;
  });
  return { ...message, content };
}

function earlierFileData(data: SharedV4FileData) {
  switch (data.type) {
    case 'data':
      return data.data;
    case 'url':
      return data.url;
    default:
      return data;
  }
}

function earlierOutput(output: LanguageModelV4ToolResultOutput, version: Version) {
  if (output.type !== 'content') return output;
  return { ...output, value: output.value.map((part) => earlierOutputPart(part, version)) };
}

type OutputPart = Extract<LanguageModelV4ToolResultOutput, { type: 'content' }>['value'][number];

/** V2 has one kind of file in a result, and V3 has kinds of their own for images: other kinds are dropped by packages. */
function earlierOutputPart(part: OutputPart, version: Version) {
  if (part.type !== 'file') return part;
  const { data, mediaType, filename, providerOptions } = part;
  if (version === 'v2') return mediaPart(data, mediaType);
  const isImage = mediaType.startsWith('image');
  switch (data.type) {
    case 'data': {
      const content = typeof data.data === 'string' ? data.data : toBase64(data.data);
      return isImage
        ? { type: 'image-data', data: content, mediaType, providerOptions }
        : { type: 'file-data', data: content, mediaType, filename, providerOptions };
    }
    case 'url':
      return { type: isImage ? 'image-url' : 'file-url', url: data.url.href, providerOptions };
    case 'reference':
      return { type: isImage ? 'image-file-id' : 'file-id', fileId: data.reference, providerOptions };
    default:
      return part;
  }
}

function mediaPart(data: SharedV4FileData, mediaType: string) {
  if (data.type === 'data')
    return {
      type: 'media',
      data: typeof data.data === 'string' ? data.data : toBase64(data.data),
      mediaType,
    };
  if (data.type === 'text') return data;
  return { type: 'text', text: data.type === 'url' ? data.url.href : `[A file of the type ${mediaType}]` };
}

function upgradeContent(part: EarlierContent): LanguageModelV4Content {
  switch (part.type) {
    case 'file':
      return { ...part, data: { type: 'data', data: part.data } };
    case 'tool-result':
      return upgradeToolResult(part);
    default:
      return part;
  }
}

function upgradeStreamPart(part: EarlierStreamPart): LanguageModelV4StreamPart {
  switch (part.type) {
    case 'stream-start':
      return { ...part, warnings: upgradeWarnings(part.warnings) };
    case 'finish':
      return {
        ...part,
        finishReason: upgradeFinishReason(part.finishReason),
        usage: upgradeUsage(part.usage),
      };
    case 'file':
      return { ...part, data: { type: 'data', data: part.data } };
    case 'tool-result':
      return upgradeToolResult(part);
    default:
      return part;
  }
}

/** The type of a result is unknown in V2 and JSON in later specifications. */
function upgradeToolResult(
  part: Extract<EarlierContent, { type: 'tool-result' }>,
): LanguageModelV4ToolResult {
  return { ...part, result: part.result as LanguageModelV4ToolResult['result'] };
}

function upgradeFinishReason(reason: EarlierFinishReason): LanguageModelV4FinishReason {
  if (typeof reason !== 'string') return reason;
  // In V2, `unknown` means that the provider reported no reason. `other` is a reason, but V2 has no field for its raw text.
  if (reason === 'other') return { unified: 'other', raw: reason };
  return { unified: reason === 'unknown' ? 'other' : reason, raw: undefined };
}

function upgradeUsage(usage: EarlierUsage): LanguageModelV4Usage {
  if (!isV2Usage(usage)) return usage;
  const { inputTokens, cachedInputTokens, outputTokens, reasoningTokens, totalTokens } = usage;
  return {
    inputTokens: {
      total: inputTokens,
      noCache: undefined,
      cacheRead: cachedInputTokens,
      cacheWrite: undefined,
    },
    outputTokens: { total: outputTokens, text: undefined, reasoning: reasoningTokens },
    ...(totalTokens !== undefined && { raw: { totalTokens } }),
  };
}

/** False for absent usage too, which `convertUsage` handles. */
function isV2Usage(usage: EarlierUsage | undefined): usage is LanguageModelV2Usage {
  return usage !== undefined && typeof usage.inputTokens !== 'object';
}

function upgradeWarnings(warnings: readonly EarlierWarning[] | undefined): SharedV4Warning[] {
  return (warnings ?? []).map(upgradeWarning);
}

function upgradeWarning(warning: EarlierWarning): SharedV4Warning {
  switch (warning.type) {
    case 'unsupported-setting':
      return { type: 'unsupported', feature: String(warning.setting), ...detailsOf(warning) };
    case 'unsupported-tool':
      return { type: 'unsupported', feature: `tool ${warning.tool.name}`, ...detailsOf(warning) };
    default:
      return warning;
  }
}

function detailsOf({ details }: { readonly details?: string }): { details?: string } {
  return details === undefined ? {} : { details };
}
