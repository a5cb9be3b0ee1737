import type { Services } from '../../services/setup/services.ts';
import { readActingQuery } from '../activities/request-fields.ts';
import type { Handlers } from '../http/handler.ts';
import type { components } from '../openapi/types.generated.ts';

type Schemas = components['schemas'];

export function computerBulkRoutes(deps: { services: Pick<Services, 'computerBulk'> }): Handlers {
  const { computerBulk } = deps.services;
  return {
    async addComputerTags({ caller, body }) {
      const { tags, ...query } = body as Schemas['ComputerTags'];
      return { body: await computerBulk.addTags(caller, readActingQuery(query), tags) };
    },
    async removeComputerTags({ caller, body }) {
      const { tags, ...query } = body as Schemas['ComputerTags'];
      return { body: await computerBulk.removeTags(caller, readActingQuery(query), tags) };
    },
    async annotateComputers({ caller, body }) {
      const { key, value, ...query } = body as Schemas['ComputerAnnotation'];
      return { body: await computerBulk.annotate(caller, readActingQuery(query), { key, value }) };
    },
    async removeComputerAnnotation({ caller, body }) {
      const { key, ...query } = body as Schemas['ComputerAnnotationKey'];
      return { body: await computerBulk.removeAnnotation(caller, readActingQuery(query), key) };
    },
    async changeComputerAccessGroup({ caller, body }) {
      const { access_group, ...query } = body as Schemas['ComputerAccessGroup'];
      return { body: await computerBulk.changeAccessGroup(caller, readActingQuery(query), access_group) };
    },
  };
}
