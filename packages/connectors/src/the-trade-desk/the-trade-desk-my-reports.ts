import { defineConnector, secret, select, text } from '@penstock/connector'
import { theTradeDesk } from './platform.ts'

/** Reports that were set up at The Trade Desk. */
export const theTradeDeskMyReports = defineConnector({
  slug: 'the-trade-desk-my-reports',
  name: 'The Trade Desk My Reports',
  platform: theTradeDesk,
  dataType: 'reporting',
  dataTypeCategory: 'reporting',
  description: 'Fetches the reports that you set up at The Trade Desk.',
  actions: ['get'],
  notes:
    'Figures are complete after one day. Set up reports at The Trade Desk: its API cannot create them. Columns are the same as in the report, without a mapping.',
  secrets: {
    clientId: text({
      label: 'Client ID',
      description: 'Client ID that your account team gave you; not your login name',
      required: true,
    }),
    clientSecret: secret({
      label: 'Client secret',
      description: 'Secret that your account team gave you with the client ID',
      required: true,
    }),
  },
  source: {
    fields: {
      reportTemplate: select({
        label: 'Report template',
        description: 'Whether to run a report that you saved or one that The Trade Desk provides',
        options: ['Existing Template', 'Predefined'],
        required: true,
      }),
      partnerId: text({
        label: 'Partner ID',
        description: 'ID of the partner whose data the report contains',
        required: true,
      }),
      templateId: text({
        label: 'Template ID',
        description: 'ID of the report that you saved',
        required: true,
        when: { reportTemplate: 'Existing Template' },
      }),
      reportName: text({ label: 'Report name', description: 'Name of this run of the report', required: true }),
      reportFormat: select({
        label: 'Report format',
        description: 'Format of the report; CSV is recommended',
        options: ['CSV', 'TSV', 'EXCEL'],
        required: true,
      }),
      reportType: select({
        label: 'Report type',
        description: 'What each row represents',
        options: ['advertiser', 'campaign', 'adGroup'],
        required: true,
      }),
    },
  },
})
