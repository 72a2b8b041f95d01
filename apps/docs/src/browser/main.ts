import { drawDiagrams } from './diagrams.ts';
import { focusWideTables } from './tables.ts';

focusWideTables();
await drawDiagrams();
