// The Temporal server and its web UI in one process, for one stack: nobody gets in without the certificate or the token of
// that stack. All parts are the official ones; what is added is who they listen to.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	_ "time/tzdata"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/headers"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/membership/static"
	_ "go.temporal.io/server/common/persistence/sql/sqlplugin/postgresql"
	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/primitives"
	sqliteschema "go.temporal.io/server/schema/sqlite"
	"go.temporal.io/server/temporal"
)

func main() {
	version := flag.Bool("version", false, "print the versions of the server and of the web UI")
	serverFile := flag.String("server", "", "file with the configuration of the server, as the official server reads it")
	uiFile := flag.String("ui", "", "file with the settings of the web UI; none without it")
	namespace := flag.String("namespace", "", "namespace to make in an SQLite store that lacks it")
	attributes := flag.String("search-attributes", "", "names of its Keyword search attributes, separated by commas")
	flag.Parse()
	if *version {
		fmt.Printf("server %s, ui %s\n", headers.ServerVersion, uiVersion)
		return
	}
	if err := run(*serverFile, *uiFile, *namespace, *attributes); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n", err)
		os.Exit(1)
	}
}

func run(serverFile, uiFile, namespace, attributes string) error {
	cfg, err := config.Load(config.WithConfigFile(serverFile))
	if err != nil {
		return fmt.Errorf("the configuration cannot be read: %w", err)
	}
	if namespace != "" {
		if err := prepareSQLite(cfg, namespace, attributes); err != nil {
			return fmt.Errorf("the store cannot be prepared: %w", err)
		}
	}
	server, err := newServer(cfg)
	if err != nil {
		return fmt.Errorf("the server cannot be made: %w", err)
	}
	failed := make(chan error, 1)
	if uiFile != "" {
		ui, err := newUI(uiFile)
		if err != nil {
			return fmt.Errorf("the web UI cannot be made: %w", err)
		}
		go func() { failed <- ui.ListenAndServe() }()
		defer func() { _ = ui.Close() }()
	}
	if err := server.Start(); err != nil {
		return fmt.Errorf("the server cannot start: %w", err)
	}
	defer func() { _ = server.Stop() }()
	stopping, release := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer release()
	select {
	case <-stopping.Done():
		return nil
	case err := <-failed:
		return fmt.Errorf("the web UI ended: %w", err)
	}
}

// prepareSQLite makes the namespace with its search attributes, which would take seconds to be known later. The tables come
// with the first connection.
func prepareSQLite(cfg *config.Config, namespace, attributes string) error {
	store := cfg.Persistence.DataStores[cfg.Persistence.DefaultStore].SQL
	if store == nil || store.PluginName != sqliteplugin.PluginName {
		return fmt.Errorf("it is not SQLite")
	}
	types := map[string]enums.IndexedValueType{}
	for _, name := range strings.FieldsFunc(attributes, func(r rune) bool { return r == ',' }) {
		types[name] = enums.INDEXED_VALUE_TYPE_KEYWORD
	}
	wanted, err := sqliteschema.NewNamespaceConfig(cfg.ClusterMetadata.CurrentClusterName, namespace, false, types)
	if err != nil {
		return err
	}
	return sqliteschema.CreateNamespaces(store, wanted)
}

// newServer makes a server whose parts find each other by their configured addresses: no port where others could join them.
func newServer(cfg *config.Config) (temporal.Server, error) {
	hosts := map[primitives.ServiceName]static.Hosts{}
	for name, service := range cfg.Services {
		address := fmt.Sprintf("%s:%d", service.RPC.BindOnIP, service.RPC.GRPCPort)
		hosts[primitives.ServiceName(name)] = static.SingleLocalHost(address)
	}
	logger := log.NewZapLogger(log.BuildZapLogger(cfg.Log))
	// Whoever presents the certificate of the stack may do everything.
	claims, err := authorization.GetClaimMapperFromConfig(&cfg.Global.Authorization, logger)
	if err != nil {
		return nil, err
	}
	return temporal.NewServer(
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithConfig(cfg),
		temporal.WithLogger(logger),
		temporal.WithStaticHosts(hosts),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper { return claims }),
	)
}
