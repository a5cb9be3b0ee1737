import { readFileSync, writeFileSync } from 'node:fs';
import { readSources } from './read-sources.ts';
import { renderStructure } from './render-structure.ts';
import { replaceSection } from './section.ts';

/** `npm run generate`: brings the generated parts of the documentation up to date. */
const PAGE = 'docs/architecture.md';
writeFileSync(PAGE, replaceSection(readFileSync(PAGE, 'utf8'), 'structure', renderStructure(await readSources())));
