export { isAllowedAddress, type Reach } from './addresses.ts'
export { createEgress, type EgressOptions, type OpenEgress } from './egress.ts'
