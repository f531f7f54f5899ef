/**
 * The stages in the order in which text becomes a verdict. A stage may import the ones before it, never one behind it;
 * that is what keeps the pipeline readable from top to bottom.
 */
export const stages = [
  'source',
  'evidence',
  'yaml',
  'markdown',
  'jinja',
  'ansible',
  'inventory',
  'variables',
  'run',
  'addresses',
  'effects',
  'host',
  'verdicts',
  'rules',
  'reports',
  'recorded',
  'analyze.ts',
  'audit',
  'citations',
  'commands',
  'library.ts',
  'cli.ts',
] as const
