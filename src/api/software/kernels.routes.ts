import { roundVersion } from '../../domain/software/debian-version.ts';
import type { HotpatchReports } from '../../domain/software/kernel.ts';
import type { KernelAction } from '../../domain/software/package-operations.ts';
import { fieldError } from '../../services/common/fields.ts';
import type { Services } from '../../services/setup/services.ts';
import type { KernelView } from '../../services/setup/views.ts';
import type { KernelCommand, KernelListing } from '../../services/software/kernels.service.ts';
import { toActivityResponse } from '../activities/activity-responses.ts';
import { type DeliveryFields, readWindow } from '../activities/request-fields.ts';
import type { Handlers, OperationResponse, RequestContext } from '../http/handler.ts';
import { traceparentOf } from '../http/tracing.ts';

export function kernelsRoutes(deps: { services: Pick<Services, 'kernels'> }): Handlers {
  const { kernels } = deps.services;
  const change = async (action: KernelAction, context: RequestContext): Promise<OperationResponse> => {
    const command = readKernelCommand(context, traceparentOf(context.request));
    // The API has no status for it yet. See docs/api-conventions.md#activity-statuses.
    return {
      body: { ...toActivityResponse(await kernels.change(context.caller, action, command)), activity_status: null },
    };
  };
  return {
    async getHotpatchInfo({ caller, params }) {
      return { body: toHotpatchInfoResponse(await kernels.info(caller, params['computer_id'] as number)) };
    },
    async getKernels({ caller, params }) {
      return { body: toKernelListingResponse(await kernels.listing(caller, params['computer_id'] as number)) };
    },
    upgradeKernel: (context) => change('upgrade', context),
    downgradeKernel: (context) => change('downgrade', context),
  };
}

function toHotpatchInfoResponse({ hotpatchInfo, serviceInfo, rebootRequiredInfo }: HotpatchReports) {
  return {
    hotpatch_info: hotpatchInfo,
    distro_pro_hotpatch_service_info: serviceInfo,
    distro_pro_reboot_required_info: rebootRequiredInfo,
  };
}

function toKernelListingResponse({ installed, upgrades, downgrades, message, smartStatus }: KernelListing) {
  return {
    installed: installed && toKernelResponse(installed),
    upgrades: upgrades.map(toKernelResponse),
    downgrades: downgrades.map(toKernelResponse),
    message,
    smart_status: smartStatus,
  };
}

function toKernelResponse({ id, name, version, fixes }: KernelView) {
  return { id, name, version, version_rounded: roundVersion(version), fixes };
}

/** In the body or in the query. */
interface KernelParameters extends DeliveryFields {
  kernel_package_id?: number | null;
  reboot_after?: boolean | null;
}

/**
 * The body takes precedence over the query; null counts as absent.
 * @throws {DomainError} InvalidParameter without a package, InvalidParameterCombination
 */
function readKernelCommand({ params, query, body }: RequestContext, traceparent: string | null): KernelCommand {
  const [first, second] = [(body ?? {}) as KernelParameters, query as KernelParameters];
  const packageId = first.kernel_package_id ?? second.kernel_package_id;
  if (packageId == null) throw fieldError('body.kernel_package_id', 'is required, here or in the query');
  return {
    computerId: params['computer_id'] as number,
    packageId,
    rebootAfter: first.reboot_after ?? second.reboot_after ?? false,
    deliverAfter: first.deliver_after ?? second.deliver_after ?? null,
    deliverAfterPath: first.deliver_after == null ? 'query.deliver_after' : 'body.deliver_after',
    windowMinutes: readWindow(first, 'body') ?? readWindow(second, 'query') ?? 0,
    after: first.after ?? second.after ?? null,
    traceparent,
  };
}
