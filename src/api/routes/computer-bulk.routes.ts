import type { Services } from '../../services/services.ts';
import type { Handlers } from '../handler.ts';
import type { components } from '../openapi/types.generated.ts';

type Schemas = components['schemas'];

export function computerBulkRoutes(deps: { services: Pick<Services, 'computerBulk'> }): Handlers {
  const { computerBulk } = deps.services;
  return {
    async addComputerTags({ caller, body }) {
      const { query, tags } = body as Schemas['ComputerTags'];
      return { body: await computerBulk.addTags(caller, query, tags) };
    },
    async removeComputerTags({ caller, body }) {
      const { query, tags } = body as Schemas['ComputerTags'];
      return { body: await computerBulk.removeTags(caller, query, tags) };
    },
    async annotateComputers({ caller, body }) {
      const { query, key, value } = body as Schemas['ComputerAnnotation'];
      return { body: await computerBulk.annotate(caller, query, { key, value }) };
    },
    async removeComputerAnnotation({ caller, body }) {
      const { query, key } = body as Schemas['ComputerAnnotationKey'];
      return { body: await computerBulk.removeAnnotation(caller, query, key) };
    },
    async changeComputerAccessGroup({ caller, body }) {
      const { query, access_group } = body as Schemas['ComputerAccessGroup'];
      return { body: await computerBulk.changeAccessGroup(caller, query, access_group) };
    },
  };
}
