import { checkArgument, mustBe, optionsCheck } from '../arguments.ts';
import { describeValue, invalidArgument } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { compact, isSameJson } from '../json.ts';
import type { AgentDefinition } from '../state/agent-definition.ts';
import { agentDefinition } from '../state/agent-definition.ts';
import { ExecutionBudget } from '../state/execution/budget.ts';
import { agentOf, missingNames, notBuildable } from './agent.ts';
import type { Agent } from './agent.ts';
import { createAgentLoop, LOOP_OPTIONS, LOOP_SETTINGS } from '../loop/agent-loop.ts';
import type { AgentLoop, AgentLoopOptions } from '../loop/agent-loop.ts';
import { requireDriver } from '../loop/inference/driver.ts';
import type { AgentEventListener } from '../loop/events.ts';
import type { Hook } from '../loop/hooks/hook.ts';
import { requireHooks } from '../loop/hooks/hook-chain.ts';
import { BUILDER_ADVICE, LOOP_ADVICE } from '../loop/option-advice.ts';
import type { Tool } from '../loop/tools/tool.ts';
import { toolsByName } from '../loop/tools/tool.ts';

/**
 * Something an agent can do beside answering, such as remembering: a function that gives a builder with what it takes
 * added, tools, hooks, another compiler. It sees what the builder has so far, as `builder.options`.
 * @example
 * const memory: Capability = (builder) => builder.withTools(remember, recall).withHooks(showMemories);
 */
export type Capability = (builder: AgentBuilder) => AgentBuilder;

/**
 * A capability from the options that a definition gives it. They are whatever a file says: judge them, and throw.
 * @example const memory: CapabilityFactory = (options) => memoryOf(memoryOptions.parse(options));
 */
export type CapabilityFactory = (options: JsonObject) => Capability;

/** The options of a loop that are one thing, not a list. */
export type AgentSettings = Omit<AgentLoopOptions, 'tools' | 'hooks' | 'listeners'>;

const checkOptions = optionsCheck<Partial<AgentLoopOptions>>('AgentBuilder.of', LOOP_OPTIONS, LOOP_ADVICE);
const checkSettings = optionsCheck<Partial<AgentSettings>>('withSettings', LOOP_SETTINGS, {
  ...LOOP_ADVICE,
  ...BUILDER_ADVICE,
});

type AgentBuilderFields = Pick<AgentBuilder, 'options' | 'capabilityFactories'>;

/**
 * The options of loops as a value: add to it, branch off, and build any number of loops and agents of it. Immutable:
 * each `with…` and `use` returns a changed copy, or `this` when nothing differs.
 *
 * @example
 * const builder = AgentBuilder.of({ driver, prices })
 *   .withTools(search, read)
 *   .use(summaries({ maxTokens: 50_000 }))
 *   .withCapabilityFactories({ memory: (options) => memoryOf(options) });
 * const writer = builder.build({ name: 'writer', tools: ['search'], budget: { maxSteps: 5 } });
 * const runtime = new SessionRuntime({ store, agents: ({ definition }) => builder.build(definition) });
 */
export class AgentBuilder {
  /** What its loops are made of: the options of `createAgentLoop`. */
  readonly options: Readonly<Partial<AgentLoopOptions>>;
  /** What makes the capabilities that definitions name. */
  readonly capabilityFactories: Readonly<Record<string, CapabilityFactory>>;

  private constructor({ options, capabilityFactories }: AgentBuilderFields) {
    this.options = options;
    this.capabilityFactories = capabilityFactories;
    Object.freeze(this);
  }

  /** A builder with these options of loops. @throws RangeError or TypeError `ARGUMENT_INVALID` as `createAgentLoop`. */
  static of(options: Partial<AgentLoopOptions> = {}): AgentBuilder {
    const { tools = [], hooks = [], listeners = [], ...settings } = checkOptions(options);
    const empty = { options: Object.freeze({}), capabilityFactories: Object.freeze({}) };
    return new AgentBuilder(empty)
      .withSettings(settings)
      .withTools(...tools)
      .withHooks(...hooks)
      .withListeners(...listeners);
  }

  // Changes

  /**
   * The same with these settings in the place of those it has. A budget replaces a budget, with all its limits. One that is
   * `undefined` goes back to its default; a driver has none.
   * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown setting or a value that does not fit.
   */
  withSettings(settings: Partial<AgentSettings>): AgentBuilder {
    const { budget } = checkSettings(settings);
    if ('driver' in settings) requireDriver(settings.driver);
    if (budget === undefined) return this.withOptions(settings);
    const known = this.options.budget;
    const limits = ExecutionBudget.of(budget);
    if (known && isSameJson(limits, ExecutionBudget.of(known)))
      return this.withOptions({ ...settings, budget: known });
    const newBudget = budget === limits ? limits : Object.freeze({ ...budget });
    return this.withOptions({ ...settings, budget: newBudget });
  }

  /** The same with more tools. @throws RangeError `ARGUMENT_INVALID` when a name is taken. */
  withTools(...tools: Tool[]): AgentBuilder {
    const all = withAdded(this.options.tools, tools);
    toolsByName(all ?? []);
    return this.withOptions({ tools: all });
  }

  /**
   * The same with more hooks: guards and structured outputs too. Those of one priority are called in the order in which
   * they were added, by whomever.
   * @throws TypeError `ARGUMENT_INVALID` for what is not a hook.
   */
  withHooks(...hooks: Hook[]): AgentBuilder {
    requireHooks(hooks);
    return this.withOptions({ hooks: withAdded(this.options.hooks, hooks) });
  }

  /** The same with more listeners. @throws TypeError `ARGUMENT_INVALID` for what is not a function. */
  withListeners(...listeners: AgentEventListener[]): AgentBuilder {
    for (const listener of listeners) checkArgument('A listener', listener, mustBe.function);
    return this.withOptions({ listeners: withAdded(this.options.listeners, listeners) });
  }

  /**
   * The same with names by which definitions can have capabilities. Having a name changes nothing: only `build` uses it.
   * @throws RangeError `ARGUMENT_INVALID` when a name is taken; TypeError of that code for what is not a function.
   */
  withCapabilityFactories(factories: Readonly<Record<string, CapabilityFactory>>): AgentBuilder {
    checkArgument('factories', factories, mustBe.object);
    for (const [name, factory] of Object.entries(factories)) {
      if (typeof factory !== 'function') {
        const found = describeValue(factory);
        throw invalidArgument(
          `The factory of capability "${name}" must be a function, found ${found}.`,
          TypeError,
        );
      }
      if (Object.hasOwn(this.capabilityFactories, name))
        throw invalidArgument(`There are two capabilities named "${name}".`);
    }
    if (Object.keys(factories).length === 0) return this;
    const capabilityFactories = Object.freeze({ ...this.capabilityFactories, ...factories });
    return new AgentBuilder({ options: this.options, capabilityFactories });
  }

  /**
   * The same with a capability, which sees what was added before it.
   * @throws TypeError `ARGUMENT_INVALID` for what is not a capability; whatever the capability throws.
   */
  use(capability: Capability): AgentBuilder {
    if (typeof capability !== 'function')
      throw invalidArgument(`A capability is a function, found ${describeValue(capability)}.`, TypeError);
    const changed: unknown = capability(this);
    if (changed instanceof AgentBuilder) return changed;
    const found = describeValue(changed);
    throw invalidArgument(`A capability returns the builder that it changed, found ${found}.`, TypeError);
  }

  // Results

  /** A loop of all that it has. @throws as `createAgentLoop`, also when there is no driver. */
  toLoop(): AgentLoop {
    return createAgentLoop(this.options as AgentLoopOptions);
  }

  /**
   * The agent of a definition. Its capabilities are added first, in the order in which it names them, after all that the
   * builder has. Then it has of all tools, theirs included, those that `tools` names, or all when that is absent, but
   * none that `toolsDeny` names, whether there is such a tool or not. Its budget takes the place of the builder's: the
   * builder's limits do not count, and without `maxSteps` it may take 20 steps.
   * @throws HoldfastError `AGENT_NOT_BUILDABLE` for names that there are not, a capability that fails, a limit of cost
   * without prices, and a tool that must be chosen and may not be used; `CONTEXT_INVALID` for what is not a definition;
   * as `toLoop`.
   */
  build(definition: AgentDefinition): Agent {
    const checked = agentDefinition(definition);
    return agentOf(checked, this.withCapabilitiesOf(checked).options);
  }

  private withCapabilitiesOf({ name: agent, capabilities = {} }: AgentDefinition): AgentBuilder {
    const { capabilityFactories: factories } = this;
    const missing = Object.keys(capabilities).filter((name) => !Object.hasOwn(factories, name));
    if (missing.length > 0) throw missingNames(agent, 'capabilities', missing, Object.keys(factories));
    return Object.entries(capabilities).reduce<AgentBuilder>((builder, [name, options]) => {
      try {
        return builder.use((factories[name] as CapabilityFactory)(options));
      } catch (cause) {
        const reason = cause instanceof Error ? cause.message.replace(/\.$/, '') : describeValue(cause);
        const data = { capabilities: [name] };
        throw notBuildable(agent, `cannot have the capability "${name}": ${reason}`, { data, cause });
      }
    }, this);
  }

  private withOptions(changes: { readonly [K in keyof AgentLoopOptions]?: unknown }): AgentBuilder {
    const names = Object.keys(changes) as (keyof AgentLoopOptions)[];
    if (names.every((name) => changes[name] === this.options[name])) return this;
    const options = compact({ ...this.options, ...changes }) as Partial<AgentLoopOptions>;
    return new AgentBuilder({ options, capabilityFactories: this.capabilityFactories });
  }
}

/** One list after the other; the first when nothing is added. */
function withAdded<T>(list: readonly T[] | undefined, added: readonly T[]): readonly T[] | undefined {
  return added.length === 0 ? list : Object.freeze([...(list ?? []), ...added]);
}
