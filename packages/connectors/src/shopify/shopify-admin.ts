import { type DiscoveryContext, defineConnector, number, secret, select, syncMode, text } from '@penstock/connector'
import { shopifyVersion } from './api.ts'
import { customerColumns } from './customer-columns.ts'
import { shopify } from './platform.ts'
import { streamNames, whyNoRange } from './streams.ts'

/** Customers, orders and products of a Shopify shop, read with bulk operations. Customers can also be written. */
export const shopifyAdmin = defineConnector({
  slug: 'shopify-admin',
  name: 'Shopify Admin',
  platform: shopify,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  status: 'preview',
  description:
    'Reads customers, orders, products, inventory, draft orders, collections and abandoned checkouts of a Shopify shop, and creates and updates its customers.',
  actions: ['read', 'create', 'update'],
  notes:
    'Only the GraphQL Admin API is used. Since January 2026 an app for your own shop is created in the Dev Dashboard and signs in with its client ID and secret; tokens of custom apps that were made in the admin before that still work. Each stream needs access scopes: Customers read_customers; Orders, Order line items and Abandoned checkouts read_orders, with read_customers and read_products for what they refer to; Products, Product variants, Collections and Collection products read_products; Inventory items read_inventory; Inventory levels read_inventory and read_locations; Draft orders read_draft_orders, with read_orders and read_customers; Discounts and Discount codes read_discounts; Deletions read_products. Without read_all_orders, Shopify gives out orders of the last 60 days. Data about customers needs access to protected customer data. As a source, each transfer is a bulk query. Shopify runs at most five of an app in a shop at once, ends one after 10 days and keeps its result for 7 days, within which an interrupted transfer finds it again by its ID and resumes. If a process dies between the start of a query and the storage of its ID, the query runs a second time. Rows are in no order. Objects below others, such as line items, are streams of their own with the ID of the object above as a column. Amounts are decimal numbers as text, in the currency of the column beside them. Incremental reads objects whose update time is later than an overlap before the bulk query of the last transfer, so that some come again: write them with the key id. A backfill reads objects whose update time is in its range; line items come with their order. Inventory levels, Collection products and Discount codes cannot be read so. Deleted objects are not reported, except by the stream Deletions, which has the events of deletions that Shopify keeps. Metafields are not read or written. As a destination, each batch of up to 10,000 rows is a bulk mutation with customerSet: a customer is found by its e-mail address or phone number and updated, or created; by customer ID it is updated. Only mapped columns with a value are sent, and fields without a mapped column stay as they are. Addresses are not written, because customerSet would delete all others. Tags are added to those of the customer unless you choose to replace them. Added tags and consent take another bulk mutation each; a row whose consent Shopify refuses is rejected, although its customer is stored. Rows of a batch with the same key become one customer, whose fields have the last values. A bulk mutation has the name of its rows: after a crash it is found again, and otherwise the same values are set once more. Shopify runs at most five bulk mutations of an app in a shop at once, and each for at most 24 hours.',
  tested:
    'Our own test server, which follows Shopify’s published reference of the GraphQL Admin API; not Shopify itself. Every query and mutation was validated with the schema of this version that Shopify publishes, except the queries of discounts and deletions, which follow its reference.',
  api: {
    version: shopifyVersion,
    ends: 'Shopify supports a version for at least 12 months, so this one until October 2027. It answers later requests with the oldest version that it still supports.',
  },
  secrets: {
    // Configurations of earlier versions do not have it.
    shop: text({
      label: 'Shop',
      description: 'The myshopify.com name of the shop, such as acme.myshopify.com; needed to move data',
      binds: ['accessToken', 'clientSecret'],
    }),
    authType: select({
      keepsState: 'credential',
      label: 'Sign-in method',
      description: 'Use an access token of the shop, or sign in with a client ID and secret',
      options: ['token', 'client-credentials'],
      labels: { token: 'Access token', 'client-credentials': 'Client credentials' },
      default: 'token',
    }),
    accessToken: secret({
      label: 'Admin API access token',
      description: 'Access token of a custom app that is installed in the shop',
      required: true,
      when: { authType: 'token' },
    }),
    clientId: text({
      keepsState: 'credential',
      label: 'Client ID',
      description: 'Client ID of an app of your organization, as the Dev Dashboard shows it',
      required: true,
      when: { authType: 'client-credentials' },
    }),
    clientSecret: secret({
      label: 'Client secret',
      description: 'Secret of this app; the app must be installed in the shop',
      required: true,
      when: { authType: 'client-credentials' },
    }),
  },
  check: async (context) => (await import('./check.ts')).checkShopify(context),
  source: {
    discover: {
      columns: async (context: DiscoveryContext) => (await import('./discover.ts')).discoverStreamColumns(context),
    },
    backfill: { by: 'times', whyNot: ({ stream }) => whyNoRange(stream) },
    open: async (context) => (await import('./read.ts')).open(context),
    fields: {
      stream: select({
        asked: true,
        label: 'Stream',
        description: 'Objects to read',
        options: streamNames,
        default: 'Customers',
      }),
      syncMode: syncMode(['Full', 'Incremental'], {
        description: 'Read all objects each time, or only objects that changed since the last transfer',
      }),
      overlapMinutes: number({
        keepsState: 'onward',
        label: 'Overlap in minutes',
        description: 'Minutes before the last transfer to read again, so that no change is missed',
        min: 0,
        max: 1440,
        default: 10,
        when: { syncMode: 'Incremental' },
      }),
    },
  },
  destination: {
    records: customerColumns,
    deliver: {
      // Shopify accepts files of 20 MB for a bulk mutation.
      batch: () => ({ rowsMax: 10_000, bytesMax: 8 << 20 }),
      open: async (context) => (await import('./deliver.ts')).open(context),
      inspect: async (context) => (await import('./deliver.ts')).inspect(context),
      rejectionsOf: async ({ settings }) => {
        const [{ rejectionsBy }, { rulesOf }] = await Promise.all([
          import('./deliver.ts'),
          import('./customer-rows.ts'),
        ])
        return rejectionsBy(rulesOf(settings))
      },
    },
    fields: {
      matchBy: select({
        asked: true,
        label: 'Find customers by',
        description: 'Column to find customers by. With the customer ID, no customers are created',
        options: ['Email', 'Phone', 'Customer ID'],
        labels: { Email: 'E-mail address', Phone: 'Phone number', 'Customer ID': 'Customer ID' },
        default: 'Email',
      }),
      emptyCells: select({
        label: 'Empty cells',
        description: 'Keep the field of the customer if a cell is empty, or clear it',
        options: ['Leave unchanged', 'Clear'],
        default: 'Leave unchanged',
      }),
      tagMode: select({
        label: 'Tags',
        description: 'Replace all tags of the customer, or add tags',
        options: ['Replace', 'Add'],
        default: 'Add',
      }),
      resultWaitSeconds: number({
        keepsState: 'pace',
        label: 'Wait for results (seconds)',
        description: 'How long each batch waits for its bulk mutation before the transfer retries and checks it again',
        min: 0,
        max: 86_400,
        default: 3_600,
      }),
    },
  },
})
