import { type SettingDetails, settingDetails } from '../../src/process/setting-types.ts';
import { SECTIONS, SETTINGS } from '../../src/process/settings.ts';
import { CONTAINER_VARIABLES, type ForeignVariable, TEST_VARIABLES, TRACING_VARIABLES } from './foreign-variables.ts';

const FOREIGN_SECTIONS = {
  'Traces (OpenTelemetry)': TRACING_VARIABLES,
  'docker-compose.yml only': CONTAINER_VARIABLES,
  'npm test only': TEST_VARIABLES,
};

interface Setting extends SettingDetails {
  name: string;
  /** What values it takes. */
  values: string;
  /** The default in words, or as a value. */
  shownDefault: string;
}

const settings = Object.entries(SETTINGS).map(([name, schema]): Setting => {
  const type = schema.unwrap();
  const { description } = 'unwrap' in type ? type.unwrap() : type;
  const details = settingDetails.get(schema)!;
  const values = `${description}${details.unit ? `, ${details.unit}` : ''}`;
  const value = schema.parse(undefined);
  const words =
    details.default ?? (value === null || (Array.isArray(value) && value.length === 0) ? 'none' : undefined);
  return { name, ...details, default: words, values, shownDefault: words ?? String(value) };
});

const starts = Object.values<string>(SECTIONS).map((first) => settings.findIndex(({ name }) => name === first));
const sections = Object.keys(SECTIONS).map((title, index) => ({
  title,
  settings: settings.slice(starts[index], starts[index + 1]),
}));

/** The tables of the settings page. */
export function renderSettingTables(): string {
  const tables = [
    ...sections.map(({ title, settings }) => [
      `### ${title}`,
      '',
      '| Setting | Value | Default | Used by | Meaning |',
      '|---|---|---|---|---|',
      ...settings.map((setting) => {
        const { name, values, usedBy, about, formerName } = setting;
        const former = formerName ? ` Also read by its former name \`${formerName}\`.` : '';
        const names = setting.isSecret ? `\`${name}\`, \`${name}_FILE\`` : `\`${name}\``;
        return `| ${names} | ${escapeCell(values)} | ${escapeCell(defaultOf(setting))} | ${usedBy} | ${about}${former} |`;
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
    ...sections.map(({ title, settings }) => [
      heading(title),
      ...settings.flatMap((setting) => [
        ...comment(`${setting.about} (${setting.values})${setting.default ? ` Default: ${defaultOf(setting)}.` : ''}`),
        `${setting.name}=${setting.default ? '' : setting.shownDefault}`,
        ...(setting.isSecret ? [`${setting.name}_FILE=`] : []),
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

function defaultOf({ shownDefault, requiredBy }: Setting): string {
  return requiredBy ? `${shownDefault}; required elsewhere` : shownDefault;
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}
