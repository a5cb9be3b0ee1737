import type { Handlers, Services } from '../http/handler.ts';

export function serverHandlers({ server }: Services) {
  return {
    getServer: async () => ({ version: server.version, temporal_ui_url: server.temporalUiUrl }),
  } satisfies Handlers;
}
