import type { ProcessSignal } from '../../domain/activities/machine-operations.ts';
import type { Services } from '../../services/setup/services.ts';
import { toActivityResponse } from '../activities/activities.wire.ts';
import type { Handlers, OperationResponse, RequestContext } from '../http/handler.ts';
import { envelope, pageOf } from '../http/request/pagination.ts';
import { traceparentOf } from '../http/tracing.ts';
import { readSignalCommand, toProcessResponse } from './processes.wire.ts';

export function processesRoutes(deps: { services: Pick<Services, 'processes'>; publicUrl: string }): Handlers {
  const { processes } = deps.services;
  const signal = async (name: ProcessSignal, { caller, body, request }: RequestContext): Promise<OperationResponse> => {
    const command = readSignalCommand(body, traceparentOf(request));
    return { body: toActivityResponse(await processes.signal(caller, name, command)) };
  };
  return {
    async listProcesses(context) {
      const computer = context.params['computer_id'] as number;
      const { count, rows } = await processes.list(context.caller, computer, pageOf(context));
      const results = rows.map((row) => toProcessResponse(computer, row));
      return { body: envelope(context, deps.publicUrl, { count, results }) };
    },
    killProcesses: (context) => signal('kill', context),
    terminateProcesses: (context) => signal('terminate', context),
  };
}
