import { answering } from './answering.ts';
import { claiming } from './claiming.ts';
import { extending } from './extending.ts';
import { filling } from './filling.ts';
import { finding } from './finding.ts';
import { owning } from './owning.ts';
import { racing } from './racing.ts';
import { reading } from './reading.ts';
import { showing } from './showing.ts';
import { storing } from './storing.ts';
import { writing } from './writing.ts';

/** Stores with a defect, by what the store does wrong. */
export const GROUPS = {
  writing,
  racing,
  claiming,
  finding,
  reading,
  showing,
  answering,
  extending,
  storing,
  owning,
  filling,
};
