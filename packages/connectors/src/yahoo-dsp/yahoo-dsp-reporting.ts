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
  description: 'Reads the delivery and the results of campaigns at Yahoo DSP.',
  actions: ['get'],
  notes: 'Yahoo may limit the amount and the frequency of requests.',
  secrets: apiClient,
  source: {},
})
