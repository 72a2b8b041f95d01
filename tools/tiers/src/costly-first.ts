import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { pathOf, readCosts } from './costs.ts';

/** Starts the costly files first: the last ones of a run are small, so no processor waits long for another one. */
export class CostlyFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { seconds } = readCosts();
    const costOf = ({ moduleId }: TestSpecification): number => seconds[pathOf(moduleId)] ?? 0;
    // oxlint-disable-next-line unicorn/no-array-sort -- the method of the sequencer, not of an array
    return (await super.sort(files)).toSorted((one, other) => costOf(other) - costOf(one));
  }
}
