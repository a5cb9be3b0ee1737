import { roundVersion } from '../../domain/software/debian-version.ts';
import type { HotpatchReports } from '../../domain/software/kernel.ts';
import type { KernelAction } from '../../domain/software/package-operations.ts';
import { fieldError } from '../../services/common/fields.ts';
import type { KernelCommand, KernelListing } from '../../services/software/kernels.service.ts';
import { toActivityResponse } from '../activities/activity-responses.ts';
import { readWindow } from '../activities/request-fields.ts';
import type { Handlers, RequestContext, Schemas, Services } from '../http/handler.ts';

type KernelChange = RequestContext<'upgradeKernel' | 'downgradeKernel'>;

export function kernelsHandlers({ kernels }: Services) {
  const change = async (action: KernelAction, context: KernelChange) => {
    const command = readKernelCommand(context);
    // The API has no status for it yet. See docs/api-conventions.md#activity-statuses.
    return { ...toActivityResponse(await kernels.change(context.caller, action, command)), activity_status: null };
  };
  return {
    getHotpatchInfo: async ({ caller, params }) =>
      toHotpatchInfoResponse(await kernels.info(caller, params.computer_id)),
    getKernels: async ({ caller, params }) =>
      toKernelListingResponse(await kernels.listing(caller, params.computer_id)),
    upgradeKernel: (context) => change('upgrade', context),
    downgradeKernel: (context) => change('downgrade', context),
  } satisfies Handlers;
}

function toHotpatchInfoResponse({ hotpatchInfo, serviceInfo, rebootRequiredInfo }: HotpatchReports) {
  return {
    hotpatch_info: hotpatchInfo,
    distro_pro_hotpatch_service_info: serviceInfo,
    distro_pro_reboot_required_info: rebootRequiredInfo,
  } as Schemas['HotpatchInfo'];
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

type Kernel = KernelListing['upgrades'][number];

function toKernelResponse({ id, name, version, fixes }: Kernel): Schemas['KernelPackage'] {
  return { id, name, version, version_rounded: roundVersion(version), fixes };
}

/** The body takes precedence. @throws {DomainError} InvalidParameter without a package, InvalidParameterCombination */
function readKernelCommand({ params, query: second, body, traceparent }: KernelChange): KernelCommand {
  const first = body ?? {};
  const packageId = first.kernel_package_id ?? second.kernel_package_id;
  if (packageId == null) throw fieldError('body.kernel_package_id', 'is required, here or in the query');
  return {
    computerId: params.computer_id,
    packageId,
    rebootAfter: first.reboot_after ?? second.reboot_after ?? false,
    deliverAfter: first.deliver_after ?? second.deliver_after ?? null,
    deliverAfterPath: first.deliver_after == null ? 'query.deliver_after' : 'body.deliver_after',
    windowMinutes: readWindow(first, 'body') ?? readWindow(second, 'query') ?? 0,
    after: first.after ?? second.after ?? null,
    traceparent,
  };
}
