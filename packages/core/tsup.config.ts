import { library } from '../../tsup.base.ts';

export default library(['index', 'store', 'driver', 'engine', 'testing'].map((door) => `src/${door}.ts`));
