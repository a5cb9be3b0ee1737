import { type CloudEvent, createClient, type EventType, type Row } from '@flotilla/client';
import { expectTypeOf, it } from 'vitest';

const client = createClient({ url: 'http://fleet.example' });

/** Never called: the compiler checks it. */
async function rejected(): Promise<void> {
  // @ts-expect-error There is no such path.
  await client.GET('/computer');
  // @ts-expect-error There is no such operation at this path.
  await client.DELETE('/snaps');
  // @ts-expect-error The body is missing.
  await client.POST('/snaps');
  // @ts-expect-error A required field is missing.
  await client.POST('/snaps', { body: { action: 'install', computer_ids: [1] } });
  // @ts-expect-error There is no such action.
  await client.POST('/snaps', { body: { action: 'explode', computer_ids: [1], snaps: [{ name: 'hello' }] } });
  // @ts-expect-error The id is missing.
  await client.GET('/activities/{activity_id}');
  // @ts-expect-error There is no such parameter.
  await client.GET('/computers', { params: { query: { tag: 'web' } } });
  // @ts-expect-error Not a list.
  client.items('/person');
  // @ts-expect-error There is no such type of event.
  client.events({ types: ['activity.exploded'] });
  // @ts-expect-error A cursor is a text.
  client.events({ after: 12 });
  for await (const event of client.events({ types: ['computer.changed', 'operation.ended'] })) {
    // @ts-expect-error No other types come.
    if (event.type === 'activity.ended') return;
    // @ts-expect-error Only one of the two has it.
    void event.data.result_code;
  }
  // @ts-expect-error Either a password or an access key.
  createClient({ url: '', credentials: { email: 'a@example.com', secretKey: 's' } });
}

it('types responses, rows and errors of use', () => {
  expectTypeOf(rejected).returns.resolves.toEqualTypeOf<void>();
  expectTypeOf(client.items('/computers')).toEqualTypeOf<AsyncIterable<Row<'/computers'>>>();
  expectTypeOf<Row<'/computers'>['id']>().toEqualTypeOf<number>();
  expectTypeOf(client.events({ types: ['operation.ended'] })).toEqualTypeOf<
    AsyncIterable<CloudEvent<'operation.ended'>>
  >();
  expectTypeOf(client.events()).toEqualTypeOf<AsyncIterable<CloudEvent>>();
  expectTypeOf<CloudEvent['type']>().toEqualTypeOf<EventType>();
  expectTypeOf<CloudEvent<'operation.ended'>['data']['result_code']>().toEqualTypeOf<number | null>();
  expectTypeOf<Extract<CloudEvent, { type: 'computer.changed' }>['data']['changed']>().toEqualTypeOf<string[]>();
  expectTypeOf<Awaited<ReturnType<typeof client.waitFor>>['id']>().toEqualTypeOf<number>();
});
