/** `npm run generate`: brings the generated parts of the documentation up to date. */
import { readFileSync, writeFileSync } from 'node:fs';
import { readSources } from './read-sources.ts';
import { renderEnvExample, renderSettingTables } from './render-settings.ts';
import { renderStructure } from './render-structure.ts';
import { replaceSection } from './section.ts';

function writeSection(page: string, name: string, text: string): void {
  writeFileSync(page, replaceSection(readFileSync(page, 'utf8'), name, text));
}

writeSection('docs/architecture.md', 'structure', renderStructure(await readSources()));
writeSection('docs/settings.md', 'settings', renderSettingTables());
writeFileSync('.env.example', renderEnvExample());
