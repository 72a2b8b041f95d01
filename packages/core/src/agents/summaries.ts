import { optionsCheck } from '../arguments.ts';
import { invalidArgument } from '../errors.ts';
import type { Capability } from './agent-builder.ts';
import { messageCompiler } from '../loop/compile/compile-messages.ts';
import { summarize, SUMMARY_ADVICE, SUMMARY_OPTIONS, type SummarizeOptions } from './summarize.ts';

/**
 * The options of the capability. The builder's driver and prices are the default. Unless `llmConfig` names a model, the
 * driver chooses it, whatever model the agent has.
 */
export type SummariesOptions = Omit<SummarizeOptions, 'driver' | 'compiler'> & {
  readonly driver?: SummarizeOptions['driver'];
};

const checkOptions = optionsCheck<SummariesOptions>('summaries', SUMMARY_OPTIONS, {
  ...SUMMARY_ADVICE,
  compiler: 'set it in the builder, as in builder.withSettings({ compiler }).use(summaries(options))',
});

/**
 * Creates a capability that keeps the messages that a model sees within a number of tokens, as `summarize` does.
 * Messages that are not summarised are shown by the compiler that the builder has when the capability is added.
 * @example const builder = AgentBuilder.of({ driver, prices }).use(summaries({ maxTokens: 50_000 }));
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or an invalid value. The capability throws
 * the same errors for a number that `summarize` refuses, and when the builder has no driver.
 */
export function summaries(options: SummariesOptions): Capability {
  checkOptions(options);
  return function withSummaries(builder) {
    const { driver, prices, compiler: shown } = builder.options;
    const writer = options.driver ?? driver;
    if (writer === undefined)
      throw invalidArgument(
        'summaries needs a driver. Pass "driver", or set the driver of the builder first.',
        TypeError,
      );
    const { hook, compiler } = summarize({
      ...(prices && { prices }),
      ...options,
      driver: writer,
      ...(shown && { compiler: messageCompiler(shown) }),
    });
    return builder.withHooks(hook).withSettings({ compiler });
  };
}
