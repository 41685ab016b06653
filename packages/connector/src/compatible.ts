export { incompatibilities } from '@penstock/wire'
