import { library } from '../../tools/config/tsup.base.ts';

export default library(
  ['index', 'store', 'driver', 'engine', 'spending', 'channel', 'testing'].map((door) => `src/${door}.ts`),
  { areUsedTogether: true },
);
