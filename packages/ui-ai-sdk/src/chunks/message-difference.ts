import type { UIMessage, UIMessageChunk } from 'ai';
import { isToolPart, type UIPart } from '../messages/ui-part.ts';
import { callIndex, canBeAdded, isFirstApproval, lastStepIndex } from './chunk-targets.ts';
import { metadataChunks } from './metadata-chunks.ts';
import { grownPartChunks, isSamePart, isText, partChunks } from './part-chunks.ts';

/** The difference between the message that a page shows and the message that it should show. */
export type MessageDifference =
  | {
      readonly type: 'chunks';
      readonly chunks: readonly UIMessageChunk[];
      /**
       * The message that the page shows after it has read the chunks; `undefined` when it shows none yet. It is the wanted
       * message, or that message with the start of a step behind it: a page cannot take the start of a step back.
       */
      readonly shown: UIMessage | undefined;
    }
  /** No chunks lead to the wanted message. The page must load its messages again. */
  | { readonly type: 'restart' };

/** Options of `chunksBetween`. */
export interface ChunksBetweenOptions {
  /**
   * True for the first chunks of a stream when an earlier stream has brought the shown message. A text that the earlier
   * stream did not end cannot grow, so its step is repeated. Default: false.
   */
  readonly isNewStream?: boolean;
}

const RESTART: MessageDifference = Object.freeze({ type: 'restart' });

/** Does the work of `chunksBetween`, without its checks: pages use it, and do not load core. */
export function messageDifference(
  shown: UIMessage | undefined,
  wanted: UIMessage,
  { isNewStream = false }: ChunksBetweenOptions = {},
): MessageDifference {
  if (shown === undefined || shown.parts.length === 0) return started(shown, wanted);
  const metadata = metadataChunks(shown.metadata, wanted.metadata);
  if (shown.id !== wanted.id || metadata === undefined) return RESTART;
  const changed = changedParts(shown.parts, wanted.parts, isNewStream);
  if (changed === undefined) return RESTART;
  const { chunks, parts } = changed;
  const after = parts === wanted.parts ? wanted : { ...wanted, parts };
  return { type: 'chunks', chunks: [...chunks, ...metadata], shown: after };
}

/** Returns the chunks of a message that the page does not show yet. */
function started(shown: UIMessage | undefined, wanted: UIMessage): MessageDifference {
  const { id: messageId, metadata, parts } = wanted;
  if (parts.length === 0) return { type: 'chunks', chunks: [], shown };
  if (!canBeAdded(parts, 0)) return RESTART;
  const start: UIMessageChunk = {
    type: 'start',
    messageId,
    ...(metadata !== undefined && { messageMetadata: metadata }),
  };
  return { type: 'chunks', chunks: [start, ...addedChunks(parts, 0)], shown: wanted };
}

function addedChunks(parts: readonly UIPart[], from: number): readonly UIMessageChunk[] {
  return parts.slice(from).flatMap((part, index) => partChunks(part, from + index));
}

/** Chunks, and the parts that the page shows after them. */
interface ChangedParts {
  readonly chunks: readonly UIMessageChunk[];
  readonly parts: UIPart[];
}

function changedParts(shown: UIPart[], wanted: UIPart[], isNewStream: boolean): ChangedParts | undefined {
  const step = lastStepIndex(shown);
  const before = grownParts(shown, wanted, { from: 0, to: step + 1, isNewStream });
  if (before === undefined) return withoutLastStep(shown, wanted, step);
  const inStep = grownParts(shown, wanted, { from: step + 1, to: shown.length, isNewStream });
  const from = inStep ? shown.length : step + 1;
  if (!canBeAdded(wanted, from)) return undefined;
  const change: readonly UIMessageChunk[] = inStep ?? [{ type: 'reset-step' }];
  return { chunks: [...before, ...change, ...addedChunks(wanted, from)], parts: wanted };
}

/** Takes back the last step, except for its start. The next step of the message uses that start. */
function withoutLastStep(shown: UIPart[], wanted: UIPart[], step: number): ChangedParts | undefined {
  const start = shown[step];
  const isShorter = start !== undefined && wanted.length === step;
  if (!isShorter || !wanted.every((part, index) => isSameAt(shown, index, part))) return undefined;
  const hasParts = shown.length > step + 1;
  return { chunks: hasParts ? [{ type: 'reset-step' }] : [], parts: [...wanted, start] };
}

function isSameAt(parts: readonly UIPart[], index: number, part: UIPart): boolean {
  const shown = parts[index];
  return shown !== undefined && isSamePart(shown, part);
}

/** A range of parts, and whether an earlier stream has brought them. */
interface PartRange {
  readonly from: number;
  readonly to: number;
  readonly isNewStream: boolean;
}

/** Returns the chunks that change the parts of a range in place; `undefined` when none can. */
function grownParts(
  shown: readonly UIPart[],
  wanted: readonly UIPart[],
  { from, to, isNewStream }: PartRange,
): readonly UIMessageChunk[] | undefined {
  const chunks: UIMessageChunk[] = [];
  for (let index = from; index < to; index++) {
    const [part, next] = [shown[index], wanted[index]];
    if (part === next && !isNewStream) continue;
    if (part === undefined || next === undefined || (isNewStream && isOpenText(part))) return undefined;
    if (isSamePart(part, next)) continue;
    const grown = canGrow(shown, part, next, index) ? grownPartChunks(part, next, index) : undefined;
    if (grown === undefined) return undefined;
    chunks.push(...grown);
  }
  return chunks;
}

function isOpenText(part: UIPart): boolean {
  return isText(part) && part.state === 'streaming';
}

/** True when chunks reach the part at an index. Text, and the input of a call, can only grow in the last step. */
function canGrow(parts: readonly UIPart[], part: UIPart, next: UIPart, index: number): boolean {
  const isInLastStep = index > lastStepIndex(parts);
  if (!isToolPart(part) || !isToolPart(next)) return isInLastStep;
  if (part.state === 'input-streaming' && !isInLastStep) return false;
  return callIndex(parts, part.toolCallId) === index && isFirstApproval(parts, next, index);
}
