import { SCENES, type SceneName } from './scenes.ts';

// The parent wrote the argument.
const { name, isQuick } = JSON.parse(process.argv[2] ?? '') as {
  readonly name: SceneName;
  readonly isQuick: boolean;
};
const metrics = await SCENES[name].measure(isQuick);
process.send?.(metrics, () => process.exit());
