import type { components } from '@flotilla/client';
import { ApiError } from '@flotilla/client';
import { queryOptions } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { readAll } from '../../api/read-all.ts';

type Schemas = components['schemas'];
export type Preferences = Schemas['Preferences'];
export type Webhook = Schemas['Webhook'];
export type Delivery = Schemas['WebhookDelivery'];

/** They include the registration key, so they are forgotten with the view that shows them. */
export const preferencesQuery = queryOptions({
  queryKey: ['preferences'],
  queryFn: async ({ signal }): Promise<Preferences> => (await client.GET('/preferences', { signal })).data,
  gcTime: 0,
});

/** The most messages that may wait for one computer; null without a limit. */
export const backlogQuery = queryOptions({
  queryKey: ['message-backlog'],
  queryFn: async ({ signal }): Promise<number | null> => {
    try {
      return (await client.GET('/message-backlog-settings', { signal })).data.max_message_backlog;
    } catch (error) {
      if (error instanceof ApiError && error.code === 'NoMessageBacklogSetting') return null;
      throw error;
    }
  },
});

export const webhooksQuery = queryOptions({
  queryKey: ['webhooks'],
  queryFn: ({ signal }): Promise<Webhook[]> => readAll(client.items('/webhooks', { signal })),
});
