import { library } from '../../tools/config/tsup.base.ts';

export default library(['src/index.ts']);
