import { Command, Option } from '@commander-js/extra-typings';
import type { Cli } from './cli.ts';
import { FORMATS } from './output/output.ts';
import manifest from '../package.json' with { type: 'json' };

/** A module of `commands/`: adds arguments, options and subcommands to its command. */
export interface CommandModule {
  register(command: Command, cli: Cli): void;
}

interface Entry {
  summary: string;
  /** Loads the module only when its command is used. */
  load: () => Promise<CommandModule>;
}

/** Every command, in the order of the help. */
const COMMANDS: Readonly<Record<string, Entry>> = {
  login: { summary: 'log in to a server', load: () => import('./commands/login.ts') },
  logout: { summary: 'end a login', load: () => import('./commands/logout.ts') },
  servers: { summary: 'list logins and choose one', load: () => import('./commands/servers.ts') },
  computers: { summary: 'list, change, restart and archive computers', load: () => import('./commands/computers.ts') },
  'pending-computers': {
    summary: 'accept or reject computers that have registered',
    load: () => import('./commands/pending-computers.ts'),
  },
  snaps: { summary: 'install, remove, refresh and hold snaps', load: () => import('./commands/snaps.ts') },
  packages: { summary: 'install, remove, upgrade and hold packages', load: () => import('./commands/packages.ts') },
  kernel: { summary: 'show and change kernels', load: () => import('./commands/kernel.ts') },
  processes: { summary: 'list and end processes of a computer', load: () => import('./commands/processes.ts') },
  scripts: { summary: 'store and run scripts', load: () => import('./commands/scripts.ts') },
  'script-profiles': {
    summary: 'run scripts on an event, once or on a schedule',
    load: () => import('./commands/script-profiles.ts'),
  },
  usg: { summary: 'audit and fix computers by USG profiles', load: () => import('./commands/usg.ts') },
  'recovery-key': {
    summary: 'show and generate recovery keys of encrypted disks',
    load: () => import('./commands/recovery-key.ts'),
  },
  activities: { summary: 'watch, cancel, approve and repeat actions', load: () => import('./commands/activities.ts') },
  alerts: { summary: 'list and dismiss alerts', load: () => import('./commands/alerts.ts') },
  events: { summary: 'list who did what, and follow what happens', load: () => import('./commands/events.ts') },
  webhooks: { summary: 'have events sent to an address', load: () => import('./commands/webhooks.ts') },
  admins: { summary: 'list administrators and set their roles', load: () => import('./commands/admins.ts') },
  roles: { summary: 'list, create and change roles', load: () => import('./commands/roles.ts') },
  'access-groups': { summary: 'list and create access groups', load: () => import('./commands/access-groups.ts') },
  invitations: { summary: 'invite administrators', load: () => import('./commands/invitations.ts') },
  api: { summary: 'call any path of the API', load: () => import('./commands/api.ts') },
  completion: { summary: 'print the completion of a shell', load: () => import('./commands/completion.ts') },
};

const NOTES = `
Exit codes: 0 all succeeded, 1 some failed, 2 wrong usage, 3 refused by the server or unreachable,
4 still running, 5 canceled, 6 waiting for approval.

  flotilla login https://fleet.example.com
  flotilla computers list -q 'tag:web needs:reboot'
  flotilla snaps install hello -q tag:web --wait`;

/** The command line. Throws CommanderError where commander would end the process. */
export function createProgram(cli: Cli): Command {
  const program = new Command('flotilla');
  program
    .description('Manages the computers of a Flotilla server.')
    .option(
      '--server <server>',
      'name of a login, or address of a server; otherwise FLOTILLA_URL, or the current login',
    )
    .addOption(new Option('-o, --output <format>', 'format of the output').choices(FORMATS).default('table' as const))
    .version(manifest.version, '--version')
    .helpCommand(false)
    .addHelpText('after', NOTES)
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => cli.runtime.stdout.write(text),
      writeErr: (text) => cli.runtime.stderr.write(text),
    })
    .exitOverride()
    .hook('preAction', (main) => cli.configure(main.opts()))
    .hook('preSubcommand', (_, command) => loadCommand(command as Command, cli));
  for (const [name, { summary }] of Object.entries(COMMANDS)) program.command(name).description(summary);
  return program as unknown as Command;
}

/** Adds to a command of the program what its module defines. */
export async function loadCommand(command: Command, cli: Cli): Promise<void> {
  const entry = COMMANDS[command.name()];
  if (entry) (await entry.load()).register(command, cli);
}
