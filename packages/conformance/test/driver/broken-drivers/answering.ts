import type { Usage } from '@holdfast/core';
import type { InferenceDelta, InferenceResponse, UsageFields } from '@holdfast/core/driver';
import { answering, hearing, inferring, parts, type Defect } from './driver-parts.ts';

/** Changes the usage of a response. */
const counting = (change: (usage: Usage) => UsageFields): Defect =>
  answering(({ usage }) => {
    const { unreportedCalls: _, unpricedCalls: __, ...counts } = { ...usage, ...change(usage) };
    return { usage: counts };
  });

const onlyWhen = (
  isMeant: (response: InferenceResponse) => boolean,
  change: ReturnType<Parameters<typeof answering>[0]>,
): Defect => answering((response) => (isMeant(response) ? change : {}));

const isFiltered = ({ finishReason }: InferenceResponse): boolean => finishReason === 'content-filter';
const isOther = ({ finishReason }: InferenceResponse): boolean => finishReason === 'other';

const calls: Readonly<Record<string, Defect>> = {
  'invents the ids of calls': answering(({ content }) => ({
    content: content.map((part, at) =>
      part.type === 'tool-call' ? { ...part, toolCallId: `invented_${at}` } : part,
    ),
  })),
  'sorts calls': answering(({ content }) => ({
    content: content.toSorted((left, right) => {
      if (left.type !== 'tool-call' || right.type !== 'tool-call') return 0;
      return left.toolCallId < right.toolCallId ? -1 : 1;
    }),
  })),
  'drops the arguments of calls': parts((part) => [
    part.type === 'tool-call' ? { ...part, input: {} } : part,
  ]),
  'replaces unparsable arguments by none': parts((part) => {
    if (part.type !== 'tool-call' || part.invalid === undefined) return [part];
    const { invalid: _, ...call } = part;
    return [{ ...call, input: {} }];
  }),
  'drops calls with unparsable arguments': parts((part) =>
    part.type === 'tool-call' && part.invalid !== undefined ? [] : [part],
  ),
  'does not state that arguments are unparsable': parts((part) => {
    if (part.type !== 'tool-call') return [part];
    const { invalid: _, ...call } = part;
    return [call];
  }),
  'returns the first call only': answering(({ content }) => {
    const first = content.findIndex(({ type }) => type === 'tool-call');
    return { content: content.filter(({ type }, at) => type !== 'tool-call' || at === first) };
  }),
  'drops the text beside calls': answering(({ content, toolCalls }) => ({
    content: content.filter(({ type }) => toolCalls.length === 0 || type !== 'text'),
  })),
};

const texts: Readonly<Record<string, Defect>> = {
  'trims texts': parts((part) => [part.type === 'text' ? { ...part, text: part.text.trim() } : part]),
  'truncates long texts': parts((part) => [
    part.type === 'text' ? { ...part, text: part.text.slice(0, 10_000) } : part,
  ]),
  'refuses an empty response': inferring(async (infer, ...args) => {
    const response = await infer(...args);
    if ((response.content ?? []).length === 0) throw new Error('No content.');
    return response;
  }),
  'drops reasoning': parts((part) => (part.type === 'reasoning' ? [] : [part])),
  'returns reasoning as text': parts((part) => [
    part.type === 'reasoning' ? { ...part, type: 'text' } : part,
  ]),
  'puts reasoning behind the text': answering(({ content }) => ({
    content: content.toSorted(
      (left, right) => Number(left.type === 'reasoning') - Number(right.type === 'reasoning'),
    ),
  })),
  'puts JSON into a code block': parts((part) => [
    part.type === 'text' && part.text.startsWith('{')
      ? { ...part, text: `\`\`\`json\n${part.text}\n\`\`\`` }
      : part,
  ]),
};

const facts: Readonly<Record<string, Defect>> = {
  'reports no usage': answering(() => ({ usage: {} })),
  'swaps input and output tokens': counting(({ inputTokens, outputTokens }) => ({
    inputTokens: outputTokens,
    outputTokens: inputTokens,
  })),
  'reports unknown usage as zero': counting(({ inputTokens = 0, outputTokens = 0 }) => ({
    inputTokens,
    outputTokens,
  })),
  'loses the tokens of the cache': counting(() => ({ cacheReadTokens: undefined })),
  'loses the tokens of reasoning': counting(() => ({ reasoningTokens: undefined })),
  'counts the tokens of the cache twice': counting(({ inputTokens, cacheReadTokens = 0 }) => ({
    inputTokens: inputTokens === undefined ? undefined : inputTokens + cacheReadTokens,
  })),
  'always reports the finish reason stop': answering(() => ({ finishReason: 'stop' })),
  'reports a filtered response as stopped': onlyWhen(isFiltered, { finishReason: 'stop' }),
  'reports a filtered response as an error': onlyWhen(isFiltered, { finishReason: 'error' }),
  'reports an unknown finish reason as stop': onlyWhen(isOther, { finishReason: 'stop' }),
  'loses the word of an unknown finish reason': onlyWhen(isOther, { rawFinishReason: undefined }),
  'loses the id of the response': answering(() => ({ responseId: undefined })),
  'loses the model of the response': answering(() => ({ modelId: undefined })),
};

const whole = (delta: InferenceDelta, texts: Map<string, string>): InferenceDelta => {
  const text = (texts.get(delta.id) ?? '') + delta.text;
  texts.set(delta.id, text);
  return { ...delta, text };
};

const deltas: Readonly<Record<string, Defect>> = {
  'trims deltas': hearing((delta) => [{ ...delta, text: delta.text.trim() }]),
  'repeats the text of deltas': hearing((delta) => (delta.type === 'text' ? [delta, delta] : [delta])),
  'sends the whole text with each delta': (sound, world) => {
    const texts = new Map<string, string>();
    return hearing((delta) => [delta.type === 'text' ? whole(delta, texts) : delta])(sound, world);
  },
  'sends no deltas': hearing(() => []),
  'sends no deltas of reasoning': hearing((delta) => (delta.type === 'reasoning' ? [] : [delta])),
  'sends reasoning as deltas of text': hearing((delta) => [
    delta.type === 'reasoning' ? { ...delta, type: 'text' } : delta,
  ]),
  'sends deltas at the end': inferring(async (infer, request, { signal, onDelta }) => {
    const held: InferenceDelta[] = [];
    const hold = onDelta && ((delta: InferenceDelta) => void held.push(delta));
    try {
      return await infer(request, { signal, onDelta: hold });
    } finally {
      for (const delta of held) onDelta?.(delta);
    }
  }),
  'sends the deltas of the last listener': (sound) => {
    let last: ((delta: InferenceDelta) => void) | undefined;
    return {
      ...sound,
      infer(request, { signal, onDelta }) {
        last = onDelta;
        return sound.infer(request, { signal, onDelta: onDelta && ((delta) => last?.(delta)) });
      },
    };
  },
};

/** Defects in what a driver returns. */
export const answeringDefects: Readonly<Record<string, Defect>> = { ...calls, ...texts, ...facts, ...deltas };
