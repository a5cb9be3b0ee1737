import { type Command, Option } from '@commander-js/extra-typings';
import type { components } from '@flotilla/client';
import type { Cli } from '../cli.ts';
import { parseId, parseNames } from '../options.ts';
import type { Columns } from '../output/output.ts';

const COLUMNS: Columns<components['schemas']['Invitation']> = {
  id: (invitation) => invitation.id,
  name: (invitation) => invitation.name,
  email: (invitation) => invitation.email,
  bound: (invitation) => invitation.bind_to_email,
  created: (invitation) => invitation.creation_time,
  expires: (invitation) => invitation.expires_at,
};

export function register(command: Command, cli: Cli): void {
  command
    .command('list', { isDefault: true })
    .description('list open invitations')
    .action(async () => cli.output.rows((await cli.client()).items('/invitations', {}), COLUMNS));
  command
    .command('create')
    .description('invite a person to become an administrator; prints the secret that accepts the invitation')
    .argument('<email>', 'where the invitation is mailed to')
    .requiredOption('--name <name>', 'of the person')
    .addOption(new Option('--roles <names>', 'separated by commas; otherwise GlobalAdmin').argParser(parseNames))
    .option('--bind', 'only this address may accept it')
    .action(async (email, { name, roles, bind }) => {
      const client = await cli.client();
      const { data } = await client.POST('/invitations', {
        body: { email, name, roles, bind_to_email: bind ?? false },
      });
      await cli.output.item(data, { id: (row) => row.id, secure_id: (row) => row.secure_id });
    });
  command
    .command('resend')
    .description('mail an invitation again')
    .argument('<invitation>', 'its id', parseId)
    .action(async (invitation_id) => {
      const client = await cli.client();
      const params = { path: { invitation_id } };
      await cli.output.item((await client.POST('/invitations/{invitation_id}', { params })).data, COLUMNS);
    });
  command
    .command('withdraw')
    .description('withdraw an invitation')
    .argument('<invitation>', 'its id', parseId)
    .action(async (invitation_id) => {
      await (await cli.client()).DELETE('/invitations/{invitation_id}', { params: { path: { invitation_id } } });
      cli.output.note(`Invitation ${invitation_id} is withdrawn.`);
    });
}
