import { defineConnector } from '@penstock/connector'
import { apiClient } from './api-client.ts'
import { yahooDsp } from './platform.ts'

/** Delivery and result figures of Yahoo DSP. */
export const yahooDspReporting = defineConnector({
  slug: 'yahoo-dsp-reporting',
  name: 'Yahoo DSP Reporting',
  platform: yahooDsp,
  dataType: 'reporting',
  dataTypeCategory: 'reporting',
  description: 'Reads how campaigns at Yahoo DSP were delivered and what they achieved.',
  actions: ['get'],
  notes: 'Yahoo may limit how much is fetched and how often.',
  secrets: apiClient,
  source: {},
})
