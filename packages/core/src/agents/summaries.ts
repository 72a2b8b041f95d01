import { optionsCheck } from '../arguments.ts';
import { invalidArgument } from '../errors.ts';
import type { Capability } from './agent-builder.ts';
import { messageCompiler } from '../loop/compile/compile-messages.ts';
import { summarize, SUMMARY_ADVICE, SUMMARY_OPTIONS } from './summarize.ts';
import type { SummarizeOptions } from './summarize.ts';

/**
 * Who writes summaries, and when. The builder's driver and prices are the default; the model is the one that the driver
 * chooses itself unless `llmConfig` names it, whatever model the agent has.
 */
export type SummariesOptions = Omit<SummarizeOptions, 'driver' | 'compiler'> & {
  readonly driver?: SummarizeOptions['driver'];
};

const checkOptions = optionsCheck<SummariesOptions>('summaries', SUMMARY_OPTIONS, {
  ...SUMMARY_ADVICE,
  compiler: 'the builder has it, as in builder.withSettings({ compiler }).use(summaries(options))',
});

/**
 * The capability to keep what a model is shown within a number of tokens, as `summarize` does it. What is not summarised
 * is shown as the compiler has it that the builder has so far.
 * @example const builder = AgentBuilder.of({ driver, prices }).use(summaries({ maxTokens: 50_000 }));
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or a value that does not fit; when it is used, for
 * numbers that `summarize` does not take, and without a driver.
 */
export function summaries(options: SummariesOptions): Capability {
  checkOptions(options);
  return function withSummaries(builder) {
    const { driver, prices, compiler: shown } = builder.options;
    const writer = options.driver ?? driver;
    if (writer === undefined)
      throw invalidArgument(
        'Summaries need a driver: theirs, or one that the builder has before.',
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
