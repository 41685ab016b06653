export { isAllowedAddress, type NetworkPolicy } from './addresses.ts'
export { type AllowedDestination, parseAllowed } from './allowed.ts'
export { type EgressBounds, egressBounds } from './bounds.ts'
export { createEgress, type EgressOptions, type OpenEgress } from './egress.ts'
