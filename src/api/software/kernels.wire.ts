import { roundVersion } from '../../domain/software/debian-version.ts';
import type { HotpatchReports } from '../../domain/software/kernel.ts';
import { fieldError } from '../../services/common/fields.ts';
import type { KernelView } from '../../services/setup/views.ts';
import type { KernelCommand, KernelListing } from '../../services/software/kernels.service.ts';
import { type DeliveryFields, readWindow } from '../activities/delivery.wire.ts';
import type { RequestContext } from '../http/handler.ts';

export function toHotpatchInfoResponse({ hotpatchInfo, serviceInfo, rebootRequiredInfo }: HotpatchReports) {
  return {
    hotpatch_info: hotpatchInfo,
    distro_pro_hotpatch_service_info: serviceInfo,
    distro_pro_reboot_required_info: rebootRequiredInfo,
  };
}

export function toKernelListingResponse({ installed, upgrades, downgrades, message, smartStatus }: KernelListing) {
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
 *
 * @throws {DomainError} InvalidParameter without a package, InvalidParameterCombination
 */
export function readKernelCommand({ params, query, body }: RequestContext, traceparent: string | null): KernelCommand {
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
