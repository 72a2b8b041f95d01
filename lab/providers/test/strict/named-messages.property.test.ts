import {
  AgentState,
  assistantMessage,
  createAgentLoop,
  systemMessage,
  userMessage,
  type Message,
} from '@holdfast/core';
import { toolMessage } from '@holdfast/core/driver';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';
import { afterAll, expect, test } from 'vitest';
import { Dice } from '../../src/conversations/dice.ts';
import { settingsOf } from '../../src/conversations/release.ts';
import { IS_LONG } from '../../src/effort.ts';
import { PIXEL } from '../../src/scenarios/tools.ts';
import { ProviderServer, type RecordedRequest } from '../../src/server.ts';
import type { StrictProfile } from '../../src/strict/index.ts';
import { isMembers, type Path } from '../../src/strict/view.ts';
import { protocols } from './protocols.ts';

/** A provider refuses any part of any request: the error names no message that does not stand there. */

const ROUNDS = IS_LONG ? 300 : 6;

const server = await ProviderServer.start();
afterAll(() => server.stop());

/** Routers convert requests. Vertex AI gets no ids of calls, so that the test cannot tell answers with calls apart. */
const OTHERS = /gateway|openrouter|vertex/;

const rows = protocols.filter(({ name }) => !OTHERS.test(name));

/** Messages of which some have texts or ids of their own, which every form keeps, and others have not. */
class Words {
  private readonly dice: Dice;
  private count = 0;

  constructor(dice: Dice) {
    this.dice = dice;
  }

  messages(): readonly Message[] {
    return this.dice.list(2, 9, () => this.some()).flat();
  }

  private some(): readonly Message[] {
    const picture = {
      type: 'file',
      mediaType: 'image/png',
      data: { type: 'data', data: PIXEL.base64 },
    } as const;
    const [first, second] = [this.own(), this.own()];
    return this.dice.of<readonly Message[]>([
      [userMessage(this.word())],
      [userMessage([picture])],
      [userMessage([{ type: 'text', text: this.word() }, picture])],
      [userMessage(' ')],
      [assistantMessage(this.word())],
      [systemMessage(this.word())],
      [
        assistantMessage([{ type: 'text', text: this.word() }, callOf(first), callOf(second)]),
        toolMessage([resultOf(first, this.word()), resultOf(second, this.word())]),
      ],
    ]);
  }

  private word(): string {
    return this.dice.chance(0.4) ? this.dice.of(['yes', 'no']) : this.own();
  }

  private own(): string {
    this.count += 1;
    return `t${String(this.count).padStart(8, '0')}`;
  }
}

const OWN = /t\d{8}/g;

function callOf(toolCallId: string) {
  return { type: 'tool-call', toolCallId, toolName: 'look', input: {} } as const;
}

function resultOf(toolCallId: string, value: string) {
  return { type: 'tool-result', toolCallId, toolName: 'look', output: { type: 'text', value } } as const;
}

/** A part of a request, with the element of the list that it is in, and the elements beside that. */
interface Part {
  readonly path: Path;
  readonly value: unknown;
  readonly element: unknown;
  readonly around: readonly unknown[];
}

function partsOf({ body }: RecordedRequest): readonly Part[] {
  const members = isMembers(body) ? body : {};
  const name = ['messages', 'input', 'contents'].find((one) => Array.isArray(members[one])) ?? '';
  const list = (members[name] ?? []) as readonly unknown[];
  return list.flatMap((element, index) => {
    const around = list.slice(Math.max(0, index - 1), index + 2);
    const inner = ['content', 'parts', 'tool_calls'].flatMap((member) => {
      const parts = isMembers(element) ? element[member] : undefined;
      if (!Array.isArray(parts)) return [];
      return parts.map((value: unknown, at): Part => {
        return { path: [name, index, member, at], value, element, around };
      });
    });
    return [{ path: [name, index], value: element, element, around }, ...inner];
  });
}

function pathText(path: Path, { wire }: StrictProfile): string {
  if (wire.paths === 'dots') return path.join('.');
  return path
    .map((step, at) => (typeof step === 'number' ? `[${step}]` : at === 0 ? step : `.${step}`))
    .join('');
}

function ownIn(value: unknown): ReadonlySet<string> {
  return new Set(JSON.stringify(value)?.match(OWN) ?? []);
}

test.each(rows)('$name', async ({ profile }) => {
  const driver = aiSdkDriver({ model: profile.model(server.url), maxRetries: 0 });
  const loop = createAgentLoop({ driver, compiler: ({ messages }) => messages });
  const { model: _, ...settings } = settingsOf(profile);
  const start = AgentState.empty().withSystemPrompt('Be brief.').withLlmConfig(settings);
  for (let seed = 0; seed < ROUNDS; seed++) {
    const dice = new Dice(seed);
    let refused: Part | undefined;
    server.play((request) => {
      refused = dice.of(partsOf(request) as [Part, ...Part[]]);
      const path = pathText(refused.path, profile);
      const message = `Invalid '${path}': odd`;
      return { response: profile.wire.refuse({ rule: 'any', path, status: 400, message }) };
    });
    const state = await loop.run(start.withMessages(new Words(dice).messages()));
    const error = state.errors.at(-1);
    expect(error?.code).toBe('DRIVER_INVALID_REQUEST');
    expect(wrongNames(state, error?.data, refused)).toEqual([]);
  }
});

/** The named messages that stand elsewhere, and the messages of texts in the refused part that are not named. */
function wrongNames({ messages }: AgentState, data: unknown, part: Part | undefined): readonly unknown[] {
  const { refused } = data as { readonly refused: { readonly messages: readonly { readonly id: string }[] } };
  const named = messages.filter(({ id }) => refused.messages.some((one) => one.id === id));
  if (named.length === 0 || part === undefined) return [];
  const around = ownIn(part.around);
  const elsewhere = named.filter(({ content }) => {
    const own = ownIn(content);
    return own.size > 0 && ![...own].some((text) => around.has(text));
  });
  const unnamed = [...ownIn(part.value)].filter(
    (text) => !ownIn(named.map(({ content }) => content)).has(text),
  );
  return named.length === 1 || unnamed.length > 0 ? [...elsewhere, ...unnamed] : unnamed;
}
