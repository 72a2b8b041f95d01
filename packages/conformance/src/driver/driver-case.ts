import type { LlmConfig } from '@holdfast/core';
import { mustBe, optionsCheck, type Driver } from '@holdfast/core/driver';
import {
  REFUSALS,
  type Interruption,
  type ProviderReply,
  type ProviderRequest,
  type Refusal,
} from './provider.ts';
import { harnessChecks, type Closable, type Harness } from '../run/harness.ts';

/** A driver, the provider that it calls, and the function that stops the provider. */
export interface DriverUnderTest extends Closable {
  readonly driver: Driver;
  /** The requests that the provider has received so far, in order. */
  readonly requests: () => readonly ProviderRequest[];
}

/**
 * Creates a driver, and a provider that gives these replies in order. A driver that pauses between two attempts must not
 * wait for real time.
 */
export type CreateDriver = (script: readonly ProviderReply[]) => Promise<DriverUnderTest>;

/** The abilities of a harness for drivers. Cases that need a missing ability are skipped. */
export interface DriverAbilities {
  /** The provider sends its response in pieces when there is a listener for deltas. */
  readonly streaming?: boolean | undefined;
  /** The provider sends reasoning as text. */
  readonly reasoning?: boolean | undefined;
  /** The provider reports `cacheReadTokens` and `reasoningTokens`. */
  readonly usageDetails?: boolean | undefined;
  /** The provider can leave out the usage. */
  readonly missingUsage?: boolean | undefined;
  /** The provider names the response and its model. */
  readonly responseIds?: boolean | undefined;
  /** The provider can send arguments that are no JSON. */
  readonly invalidArguments?: boolean | undefined;
  /** The provider accepts system messages inside the conversation. */
  readonly systemMessages?: boolean | undefined;
  /** The provider distinguishes results that are errors. */
  readonly errorResults?: boolean | undefined;
  /** The provider receives the JSON Schema of a response. */
  readonly schemas?: boolean | undefined;
  /** The provider receives the name of the response format. */
  readonly formatNames?: boolean | undefined;
  /** The provider accepts a tool choice. */
  readonly toolChoice?: boolean | undefined;
  /** The harness can send a reply outside of the protocol. */
  readonly noise?: boolean | undefined;
  /** The provider sees that the driver has closed its connection. */
  readonly disconnects?: boolean | undefined;
  /** The provider accepts the URLs of images. */
  readonly fileUrls?: boolean | undefined;
  /** The provider accepts images in tool results. */
  readonly resultFiles?: boolean | undefined;
  /** The media types of files that the provider accepts. */
  readonly files?: readonly string[] | undefined;
  /** The model settings that the provider accepts, without `model`, `reasoning` and `providerOptions`. */
  readonly settings?: readonly (keyof LlmConfig)[] | undefined;
  /** Two model ids that a request can name. The provider receives them unchanged. */
  readonly models?: readonly string[] | undefined;
  /** The keys and header values that the driver sends. The provider repeats them in the message of each refusal. */
  readonly secrets?: readonly string[] | undefined;
  /** The refusals that the provider can give. */
  readonly refusals?: readonly Refusal[] | undefined;
  /** The interruptions that the harness can cause. */
  readonly interruptions?: readonly Interruption[] | undefined;
  /** The longest pause in seconds that a driver may make by itself; the default is 20. */
  readonly pauseSeconds?: number | undefined;
}

/** An ability that a case needs. A refusal or an interruption stands for its entry in `refusals` or `interruptions`. */
export type DriverNeed =
  | Exclude<keyof DriverAbilities, 'refusals' | 'interruptions' | 'pauseSeconds'>
  | Refusal
  | Interruption;

const words = (expected: string) => mustBe.listOf(expected, mustBe.string.accepts);

/** Creates the drivers of the cases and their providers. Its other members are abilities. */
export interface DriverHarness extends Harness<CreateDriver>, DriverAbilities {}

export const checkDriverHarness = optionsCheck<DriverHarness>('the harness of a driver', {
  ...harnessChecks,
  streaming: mustBe.boolean,
  reasoning: mustBe.boolean,
  usageDetails: mustBe.boolean,
  missingUsage: mustBe.boolean,
  responseIds: mustBe.boolean,
  invalidArguments: mustBe.boolean,
  systemMessages: mustBe.boolean,
  errorResults: mustBe.boolean,
  schemas: mustBe.boolean,
  formatNames: mustBe.boolean,
  toolChoice: mustBe.boolean,
  noise: mustBe.boolean,
  disconnects: mustBe.boolean,
  fileUrls: mustBe.boolean,
  resultFiles: mustBe.boolean,
  files: words('media types'),
  settings: words('names of model settings'),
  models: words('model ids'),
  secrets: mustBe.secret(words('strings')),
  refusals: mustBe.listOf(`refusals (${REFUSALS.join(', ')})`, mustBe.oneOf(REFUSALS).accepts),
  interruptions: mustBe.listOf(
    'interruptions (cut, end, error)',
    mustBe.oneOf(['cut', 'end', 'error']).accepts,
  ),
  pauseSeconds: mustBe.seconds,
});

/** True when the harness has an ability that a case needs. */
export function hasAbility(abilities: DriverAbilities, need: DriverNeed): boolean {
  if (need in abilities) {
    const value = abilities[need as keyof DriverAbilities];
    return Array.isArray(value) ? value.length > 0 : value === true;
  }
  const { refusals = [], interruptions = [] } = abilities;
  return [...refusals, ...interruptions].some((word) => word === need);
}

/** The part of the contract that a case belongs to. */
export type DriverGroup =
  | 'responses'
  | 'requests'
  | 'conversations'
  | 'files'
  | 'formats'
  | 'errors'
  | 'interruptions'
  | 'aborts'
  | 'agents';

/** A requirement on every driver. */
export interface DriverCase {
  readonly group: DriverGroup;
  /** The name of the case. It is unique. */
  readonly name: string;
  /** The abilities that the case needs. */
  readonly needs: readonly DriverNeed[];
  /** Runs the case. Rejects when the driver does not meet the requirement. */
  readonly run: (createDriver: CreateDriver, abilities?: DriverAbilities) => Promise<void>;
}

/** A case without its group. */
export type UngroupedDriverCase = Omit<DriverCase, 'group'>;

/** The environment of a case. */
export interface DriverContext {
  readonly create: CreateDriver;
  readonly abilities: DriverAbilities;
  /** True when the case listens to deltas. */
  readonly isHeard: boolean;
}

type Act = (context: DriverContext) => Promise<void>;

/** Creates a case with a listener for deltas. */
export function heard(name: string, needs: readonly DriverNeed[], act: Act): UngroupedDriverCase {
  return {
    name,
    needs,
    run: (create, abilities = {}) => act({ create, abilities, isHeard: true }),
  };
}

/** Creates a case without a listener for deltas. */
export function unheard(name: string, needs: readonly DriverNeed[], act: Act): UngroupedDriverCase {
  return {
    name,
    needs,
    run: (create, abilities = {}) => act({ create, abilities, isHeard: false }),
  };
}

/** Creates two cases: one with a listener for deltas, one without. */
export function both(name: string, needs: readonly DriverNeed[], act: Act): readonly UngroupedDriverCase[] {
  return [heard(`${name}, with a listener`, needs, act), unheard(`${name}, without a listener`, needs, act)];
}
