import { date, defineConnector, secret, select, text } from '@penstock/connector'
import { inventoryColumns } from './inventory-columns.ts'
import { outfront } from './platform.ts'

/** Billboards and other units of Outfront, and when they can be booked. */
export const outfrontInventory = defineConnector({
  slug: 'outfront-inventory',
  name: 'Outfront Inventory Availability',
  platform: outfront,
  dataType: 'reporting',
  dataTypeCategory: 'reporting',
  status: 'withdrawn',
  withdrawn: {
    why: 'The address and the answers of Outfront’s inventory interface are described to partners only.',
    instead: 'Have the inventory delivered as a file, and read it with HTTPS File or the SFTP Source.',
  },
  description: 'Reads the billboard units that Outfront offers, with their availability, prices and impressions.',
  actions: ['read'],
  notes:
    'Units are sold by the week, Monday to Sunday. Book a static unit at least 21 days ahead and a digital one 7 days. Availability is listed for the next 350 days and for 12 months at most. Each market allows 100 inquiries.',
  secrets: {
    tenantId: text({
      label: 'Tenant ID',
      description: 'ID of the directory tenant in which the client signs in',
      required: true,
      binds: ['clientSecret'],
    }),
    clientId: text({ label: 'Client ID', description: 'ID of the client that calls the API', required: true }),
    clientSecret: secret({
      label: 'Client secret',
      description: 'Secret that belongs to the client ID',
      required: true,
    }),
    scope: text({ label: 'Scope', description: 'Scope that is requested at sign-in', required: true }),
  },
  source: {
    fields: {
      marketName: text({ label: 'Market name', description: 'Only units of this market (DMA)' }),
      mediaFormat: text({ label: 'Media format', description: 'Only units of this format, for example Bulletin' }),
      unitIdType: select({
        label: 'Unit ID type',
        description: 'Which kind of number Unit IDs contains',
        options: ['Outfront ID (OMS)', 'Geopath - Spot', 'Geopath - Frame'],
      }),
      unitIds: text({ label: 'Unit IDs', description: 'Only these units, separated by commas' }),
      digital: select({
        label: 'Digital',
        description: 'Yes for digital units only, No for static units only; empty for both',
        options: ['Yes', 'No'],
      }),
      loadType: select({
        label: 'Load type',
        description: 'How much each transfer reads; everything is the only option',
        options: ['Full Load'],
      }),
      transferType: select({
        label: 'Transfer type',
        description: 'Whether transfers start manually or on a schedule',
        options: ['Manual Transfer', 'Scheduled Transfer'],
      }),
      windowType: select({
        label: 'Window',
        description: 'Whether the dates are fixed, or relative to the day of each transfer',
        options: ['Fixed Window', 'Rolling Window'],
      }),
      startDate: date({
        label: 'Start date',
        description: 'First day to read, which must be a Monday',
        when: { windowType: 'Fixed Window' },
      }),
      endDate: date({
        label: 'End date',
        description: 'Last day to read, which must be a Sunday',
        when: { windowType: 'Fixed Window' },
      }),
    },
    records: inventoryColumns,
  },
})
