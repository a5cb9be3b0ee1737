import type { Setting } from '../../src/process/setting.ts';
import { SETTING_SECTIONS } from '../../src/process/settings.ts';
import { CONTAINER_VARIABLES, type ForeignVariable, TEST_VARIABLES, TRACING_VARIABLES } from './foreign-variables.ts';

const FOREIGN_SECTIONS = {
  'Traces (OpenTelemetry)': TRACING_VARIABLES,
  'docker-compose.yml only': CONTAINER_VARIABLES,
  'npm test only': TEST_VARIABLES,
};

const sections = Object.entries(SETTING_SECTIONS).map(
  ([title, settings]) => [title, Object.entries<Setting<unknown>>(settings)] as const,
);

/** The tables of the settings page. */
export function renderSettingTables(): string {
  const tables = [
    ...sections.map(([title, settings]) => [
      `### ${title}`,
      '',
      '| Setting | Value | Default | Used by | Meaning |',
      '|---|---|---|---|---|',
      ...settings.map(([name, setting]) => {
        const value = setting.type.label + (setting.unit ? `, ${setting.unit}` : '');
        const names = setting.isSecret ? `\`${name}\`, \`${name}_FILE\`` : `\`${name}\``;
        return `| ${names} | ${escapeCell(value)} | ${escapeCell(defaultOf(setting))} | ${setting.usedBy} | ${setting.about} |`;
      }),
    ]),
    ...Object.entries(FOREIGN_SECTIONS).map(([title, variables]) => [
      `### ${title}`,
      '',
      '| Variable | Default | Meaning |',
      '|---|---|---|',
      ...variables.map(
        (variable) =>
          `| \`${variable.name}\` | ${variable.value ?? variable.default ?? 'none'} | ${escapeCell(variable.about)} |`,
      ),
    ]),
  ];
  return tables.map((lines) => lines.join('\n')).join('\n\n');
}

/** The contents of `.env.example`. */
export function renderEnvExample(): string {
  const blocks = [
    ...sections.map(([title, settings]) => [
      heading(title),
      ...settings.flatMap(([name, setting]) => [
        ...comment(
          `${setting.about} (${setting.type.label}${setting.unit ? `, ${setting.unit}` : ''})${ending(setting)}`,
        ),
        `${name}=${isInWords(setting) ? '' : String(setting.fallback)}`,
        ...(setting.isSecret ? [`${name}_FILE=`] : []),
      ]),
    ]),
    ...Object.entries(FOREIGN_SECTIONS).map(([title, variables]) => [
      heading(title),
      ...variables.flatMap((variable) => [
        ...comment(`${variable.about}${variable.default ? ` Default: ${variable.default}.` : ''}`),
        assignment(variable),
      ]),
    ]),
  ];
  return `${[INTRODUCTION, ...blocks.map((lines) => lines.join('\n'))].join('\n\n')}\n`;
}

const INTRODUCTION = `# Generated from src/process/settings.ts (npm run generate). docs/settings.md shows the same as tables.
# All settings are environment variables; an empty value counts as absent.
# docker compose reads a file named .env by itself and takes secrets from files.
# For npm scripts export them: set -a; . ./.env; set +a
# A setting whose name ends in _FILE names a file that holds the secret, in place of the setting itself.`;

const LINE_WIDTH = 120;

function heading(title: string): string {
  return `# --- ${title} `.padEnd(LINE_WIDTH, '-');
}

function comment(text: string): string[] {
  const lines = ['#'];
  for (const word of text.replaceAll('`', '').split(' ')) {
    if (lines.at(-1)!.length + 1 + word.length > LINE_WIDTH) lines.push('#');
    lines[lines.length - 1] += ` ${word}`;
  }
  return lines;
}

/** OpenTelemetry variables without a value are commented out, because not every program treats empty as absent. */
function assignment({ name, value }: ForeignVariable): string {
  return value === undefined && name.startsWith('OTEL_') ? `# ${name}=` : `${name}=${value ?? ''}`;
}

function isInWords(setting: Setting<unknown>): boolean {
  return setting.default !== undefined;
}

function defaultOf(setting: Setting<unknown>): string {
  const value = setting.default ?? String(setting.fallback);
  return setting.requiredBy ? `${value}; required elsewhere` : value;
}

function ending(setting: Setting<unknown>): string {
  return isInWords(setting) ? ` Default: ${defaultOf(setting)}.` : '';
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}
