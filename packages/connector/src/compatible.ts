export { incompatibilities } from '@penstock/wire/rules'
