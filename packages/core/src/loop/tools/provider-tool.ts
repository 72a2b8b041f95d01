import { mustBe, optionsCheck } from '../../arguments.ts';
import { invalidArgument } from '../../errors.ts';
import { toJsonObject, type JsonObject } from '../../json.ts';
import type { ProviderTool } from '../inference/driver.ts';
import { nameInMessages, TIME_LIMIT, TOOL_NAME } from './tool-checks.ts';
import type { Tool } from './tool-types.ts';

/** The options of `providerTool()`. */
export interface ProviderToolInit extends Pick<Tool, 'approvalTimeoutSeconds'> {
  /** The name of the tool in the loop: 1 to 64 letters, digits, `_` or `-`. */
  readonly name: string;
  /** The name of the provider, and the provider's name of the tool, as in `openai.web_search`. */
  readonly id: ProviderTool['id'];
  /** The settings of the tool, in the provider's terms. Default: none. */
  readonly args?: JsonObject;
  /** True when the provider may return a result in a later response than the call. Default: false. */
  readonly supportsDeferredResults?: boolean;
}

const ID = /^[^.]+\..+$/;

const checkInit = optionsCheck<ProviderToolInit>('provider tool', {
  name: mustBe.required(TOOL_NAME),
  id: mustBe.required({
    expected: 'the name of the provider and of its tool, as in "openai.web_search"',
    accepts: (value) => typeof value === 'string' && ID.test(value),
    type: 'string',
  }),
  args: mustBe.object,
  supportsDeferredResults: mustBe.boolean,
  approvalTimeoutSeconds: TIME_LIMIT,
});

/**
 * Creates a tool that a provider defines and runs itself, such as a web search. The loop declares it to the model, saves
 * its calls and results, and sends them back. It never runs a call.
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or an invalid value.
 * @example
 * const search = providerTool({ name: 'search', id: 'openai.web_search', args: { searchContextSize: 'low' } });
 */
export function providerTool(init: ProviderToolInit): Tool {
  checkInit(init, nameInMessages('provider tool', init));
  const { name, id, args = {}, supportsDeferredResults, approvalTimeoutSeconds } = init;
  const provided: ProviderTool = Object.freeze({
    id,
    args: toJsonObject(args),
    isProviderExecuted: true,
    ...(supportsDeferredResults && { supportsDeferredResults }),
  });
  return Object.freeze({
    name,
    description: '',
    inputSchema: Object.freeze({}),
    providerTool: provided,
    validate: (input: unknown) => ({ value: input }),
    execute: () => {
      throw invalidArgument(`Tool "${name}" has no execute: the provider runs it.`, TypeError);
    },
    effect: 'once',
    timeoutSeconds: undefined,
    retry: undefined,
    ...(approvalTimeoutSeconds !== undefined && { approvalTimeoutSeconds }),
  });
}
