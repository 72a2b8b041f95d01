import { hasErrorCode } from '@holdfast/core';
import { DefinitionError, DefinitionRegistry, parseDefinition } from '@holdfast/definitions';

{
  // #region versions
  const definitions = await DefinitionRegistry.load('agents');
  console.log(definitions.names); // => [ 'writer' ]
  console.log(definitions.get('writer').llmConfig); // => { model: 'openai:gpt-5' }
  console.log(definitions.get('writer', '2').llmConfig); // => { model: 'openai:gpt-5-mini' }

  try {
    definitions.get('writer', '3');
  } catch (error) {
    console.log(hasErrorCode(error, 'AGENT_NOT_FOUND')); // => true
  }
  // #endregion
}

{
  // #region problems
  const text = '---\nname: writer\nsytemPrompt: Be brief.\nbudget: { maxSteps: ten }\n---\nYou write well.';
  try {
    parseDefinition(text, { file: 'writer.md' });
  } catch (error) {
    if (error instanceof DefinitionError) console.log(error.problems.length, error.message);
  }
  // => 2 2 problems in agent definitions:
  // =>   writer.md:3:1: sytemPrompt: expected a known key, found "sytemPrompt". Did you mean systemPrompt?
  // =>   writer.md:4:21: budget.maxSteps: expected a number, found string "ten". For example maxSteps: 20.
  // #endregion
}
