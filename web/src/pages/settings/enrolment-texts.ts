import { quote } from '../../ui/shell-text.ts';

interface Enrolment {
  /** Of the server, as computers reach it. */
  address: string;
  account: string;
  /** Null where computers need none. */
  registrationKey: string | null;
}

/** Scripts and audits are off in the client until they are named. */
const PLUGINS = 'ScriptExecution,USGManager';
const SCRIPT_USERS = 'root,nobody';

/** What an administrator runs on a computer to add it, and the same as its configuration file. */
export function enrolmentTexts({ address, account, registrationKey }: Enrolment) {
  const server = address.trim().replace(/\/+$/, '');
  const settings = {
    account_name: account,
    url: `${server}/message-system`,
    ping_url: `${server}/ping`,
    ...(registrationKey !== null && { registration_key: registrationKey }),
    include_manager_plugins: PLUGINS,
    script_users: SCRIPT_USERS,
  };
  const entries = Object.entries(settings);
  return {
    commands: [
      'sudo apt install landscape-client',
      [
        'sudo landscape-config --silent',
        '--computer-title "$(hostname -f)"',
        ...entries.map(([name, value]) => `--${name.replaceAll('_', '-')} ${quote(value)}`),
      ].join(' \\\n  '),
    ].join('\n'),
    configuration: [
      '[client]',
      'computer_title = web-01.example.com',
      ...entries.map(([name, value]) => `${name} = ${name === 'registration_key' ? configValue(value) : value}`),
      'data_path = /var/lib/landscape/client',
      'log_dir = /var/log/landscape',
    ].join('\n'),
  };
}

/** The client's file has comments after #, and lists with commas, unless a value is in quotation marks. */
function configValue(value: string): string {
  if (/^[\w.-]+$/.test(value)) return value;
  return value.includes('"') ? `'${value}'` : `"${value}"`;
}
